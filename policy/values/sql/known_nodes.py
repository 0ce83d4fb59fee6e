"""The parts of SQL without hidden effects, by the parser's names for them: data.

Anything that is in none of these lists may call a program, open a file or run other SQL.
"""

from __future__ import annotations

from typing import Final

# The types of statements.
SQL_KINDS: Final = (
    "select",
    "insert",
    "update",
    "delete",
    "merge",
    "create",
    "alter",
    "drop",
    "truncate",
    "grant",
    "revoke",
    "comment",
    "describe",
    "begin",
    "commit",
    "rollback",
)

# Parts of statements.
PLAIN_PARTS: Final = frozenset(
    """
    add addconstraint adjacent alias aliases all alter altercolumn alterrename any attimezone
    autoincrementcolumnconstraint between binarycolumnconstraint bitstring bitwiseand
    bitwiseleftshift bitwisenot bitwiseor bitwiserightshift bitwisexor boolean bracket bytestring
    casespecificcolumnconstraint characterset charactersetcolumnconstraint check
    checkcolumnconstraint clusteredcolumnconstraint collatecolumnconstraint column columnconstraint
    columndef columnposition comment commentcolumnconstraint commit computedcolumnconstraint
    constraint create cte cube datatype datatypeparam defaultcolumnconstraint delete describe
    distance distinct div dot dpipe drop droppartition dropprimarykey eq escape except extendsleft
    extendsright fetch filter foreignkey from generatedasidentitycolumnconstraint glob grant
    grantprincipal grantprivilege group groupingsets gt gte having heredoc hexstring hint
    historicaldata identifier ignorenulls ilike in index indexconstraintoption indexparameters
    indextablehint insert intdiv intersect interval intervalop intervalspan into introducer is join
    json jsoncolumndef jsonextractquote jsonkeyvalue jsonpath jsonpathfilter jsonpathkey
    jsonpathpart jsonpathrecursive jsonpathroot jsonpathscript jsonpathselector jsonpathslice
    jsonpathsubscript jsonpathunion jsonpathwildcard jsonschema jsonvalue kwarg lambda lateral like
    limit limitoptions literal lock lt lte merge mod modifycolumn mul national neg neq
    nonclusteredcolumnconstraint not notnullcolumnconstraint null nullsafeeq nullsafeneq offset
    onconflict onupdatecolumnconstraint openjsoncolumndef opclass order ordered overlaps parameter
    paren partition pivot pivotalias placeholder positionalcolumn primarykey
    primarykeycolumnconstraint projectiondef properties propertyeq pseudotype qualify rawstring
    reference renamecolumn respectnulls returning revoke rollback rollup schema select
    sessionparameter similarto slice sort star sub subquery subquerypredicate table tablealias
    tablesample timeunit transaction truncatetable tuple union uniquecolumnconstraint
    unpivotcolumns update values var when whens where window windowspec with withfill
    withingroup withtablehint xmlkeyvalueoption xmlnamespace zerofillcolumnconstraint
    """.split()
)

# Properties of a new table or view.
PLAIN_PROPERTIES: Final = frozenset(
    """
    autoincrementproperty charactersetproperty collateproperty likeproperty materializedproperty
    oncommitproperty schemacommentproperty sqlsecurityproperty strictproperty temporaryproperty
    transientproperty unloggedproperty withschemabindingproperty
    """.split()
)
PLAIN_ENGINES: Final = frozenset({"innodb", "memory", "myisam"})

# Functions that the parser knows and that read files, call a model, advance a sequence, or run a
# string.
EFFECTIVE_FUNCTIONS: Final = frozenset(
    """
    aiagg aiclassify aiembed aiforecast aigenerate aisimilarity aisummarizeagg apply
    combinedaggfunc combinedparameterizedagg dynamicidentifier featuresattime generateembedding
    generatebool generatedouble generateint generatetable generatetext mlforecast mltranslate
    netfunc nextvaluefor parameterizedagg predict readcsv readparquet regdomain safefunc secret
    tofile vectorsearch
    """.split()
)

# Functions that the parser does not know and that only compute, or describe the database itself.
PLAIN_FUNCTIONS: Final = frozenset(
    """
    age array_agg array_append array_cat array_dims array_length array_lower array_ndims
    array_position array_prepend array_remove array_replace array_to_json array_upper bit_and
    bit_or bool_and bool_or btrim cardinality changes char charindex choose clock_timestamp
    col_description cume_dist current_setting database datalength date_format date_part dateadd
    datediff datename datepart decode difference div encode eomonth every field find_in_set
    first_value format_type found_rows from_unixtime gen_random_uuid getdate getutcdate
    has_table_privilege hex iif inet_aton inet_ntoa initcap instr isdate isnull isnumeric
    json_agg json_array_elements json_array_elements_text json_array_length json_build_array
    json_build_object json_contains json_depth json_each json_each_text json_extract_path
    json_extract_path_text json_group_array json_group_object json_length json_merge_patch
    json_object_agg json_object_keys json_patch json_pretty json_query json_quote json_search
    json_to_record json_tree json_typeof json_unquote json_valid jsonb_agg jsonb_array_elements
    jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each
    jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_object_agg
    jsonb_object_keys jsonb_path_query jsonb_pretty jsonb_set jsonb_strip_nulls jsonb_to_record
    jsonb_typeof julianday lag last_insert_rowid last_value lcase lead len likelihood likely
    locate lpad ltrim make_date make_interval make_time make_timestamp make_timestamptz makedate
    maketime md5 mid mod newid nth_value ntile obj_description object_name oct octet_length ord
    parsename patindex percent_rank period_add period_diff pg_column_size pg_database_size
    pg_get_constraintdef pg_get_expr pg_get_indexdef pg_get_serial_sequence pg_get_viewdef
    pg_indexes_size pg_relation_size pg_size_pretty pg_table_is_visible pg_table_size
    pg_total_relation_size pg_typeof phraseto_tsquery plainto_tsquery position power printf
    quote quote_ident quote_literal quote_nullable quotename random regexp_match regexp_matches
    regexp_split_to_array regexp_split_to_table replicate row_count row_to_json rpad rtrim
    schema schema_name scope_identity sec_to_time setweight similarity sqlite_version square
    statement_timestamp str str_to_date strftime string_to_array string_to_table subdate
    sysdatetime time_to_sec timediff timeofday timestampadd timestampdiff timezone to_ascii
    to_hex to_json to_jsonb to_tsquery to_tsvector total total_changes transaction_timestamp
    truncate ts_headline ts_rank ts_rank_cd typeof ucase unaccent unistr unixepoch unlikely user
    user_name utc_timestamp uuid version websearch_to_tsquery width_bucket word_similarity
    yearweek zeroblob
    """.split()
)

# T-SQL needs no semicolon, so each of these may begin a statement where a name is expected.
STATEMENT_WORDS: Final = frozenset(
    """
    alter backup begin break bulk checkpoint close commit continue create dbcc deallocate declare
    delete deny drop dump else end exec execute fetch go goto grant if insert kill load merge open
    print raiserror readtext reconfigure restore return revert revoke rollback save set setuser
    shutdown throw truncate update updatetext use waitfor while writetext
    """.split()
)
