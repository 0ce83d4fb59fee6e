"""The statements, settings and functions of SQL that are known to stay inside a database."""

from __future__ import annotations

STATEMENTS = frozenset(
    """
    select insert update delete replace with values explain analyze begin start commit rollback end
    savepoint release show describe desc use reindex truncate grant revoke comment lock unlock
    vacuum table copy attach detach
    """.split()
)
# Objects that may be created and altered, and words between `create` and the object.
CREATED = frozenset("table index view trigger schema database type sequence role user".split())
ALTERED = frozenset("table index view sequence type schema".split())
BETWEEN = frozenset(
    """
    or replace temp temporary unique materialized global local unlogged virtual fulltext spatial
    """.split()
)
PRAGMAS = frozenset(
    """
    table_info table_xinfo table_list index_list index_info index_xinfo foreign_keys
    foreign_key_list foreign_key_check journal_mode synchronous integrity_check quick_check
    user_version schema_version application_id encoding page_size page_count cache_size
    busy_timeout database_list compile_options optimize wal_checkpoint freelist_count auto_vacuum
    incremental_vacuum temp_store locking_mode mmap_size query_only recursive_triggers
    case_sensitive_like function_list collation_list secure_delete
    """.split()
)
SETTINGS = frozenset(
    """
    names time search_path statement_timeout lock_timeout client_encoding timezone datestyle
    foreign_key_checks sql_mode session local transaction role enable_seqscan work_mem autocommit
    client_min_messages
    """.split()
)
MODULES = frozenset("fts3 fts4 fts5 rtree geopoly".split())
# Words after which a name and `(` are not a call; words that are not a call before a `(`.
BEFORE_COLUMNS = frozenset(
    "into table references index view key constraint as with recursive".split()
)
NO_CALLS = frozenset(
    """
    in values and or not on as from where when then else case select distinct by having limit
    offset union all except intersect exists any some using over filter within check key unique
    primary default is like between returning set do nothing index references join if table group
    order add column constraint begin partition materialized ilike similar to set
    int integer bigint smallint tinyint mediumint decimal numeric number float double real char
    character varchar varying nchar nvarchar text blob binary varbinary bit time timestamp
    timestamptz datetime date year enum json interval precision boolean geometry vector lateral
    btree gin gist hash brin
    """.split()
)
FUNCTIONS = frozenset(
    """
    abs acos acosh age array_agg array_append array_length array_position array_remove
    array_to_json array_to_string ascii asin atan atan2 avg bit_and bit_count bit_length bit_or
    bool_and bool_or btrim cardinality cast cbrt ceil ceiling changes char_length character_length
    chr coalesce concat concat_ws convert_tz cos count cume_dist curdate current_database
    current_date current_schema current_time current_timestamp current_user
    curtime database date_add date_diff date_format date_part date_sub date_trunc datediff day
    dayname dayofmonth dayofweek dayofyear decode degrees dense_rank div encode every exp extract
    field find_in_set first_value floor format format_type found_rows from_days from_unixtime gcd
    generate_series generate_subscripts get_bit greatest group_concat grouping
    has_table_privilege hex highlight hour ifnull iif initcap insert_id instr isfinite isnull
    json_agg json_array json_array_length json_arrayagg json_build_array json_build_object
    json_contains json_each json_extract json_extract_path json_extract_path_text
    json_group_array json_group_object json_insert json_keys json_length json_object
    json_object_agg json_objectagg json_patch json_quote json_remove json_replace json_search
    json_set json_tree json_type json_unquote json_valid jsonb_agg jsonb_array_elements
    jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each
    jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_object_agg jsonb_object_keys
    jsonb_path_query jsonb_pretty jsonb_set jsonb_strip_nulls jsonb_to_recordset jsonb_typeof
    julianday justify_days justify_hours justify_interval lag last_day last_insert_id
    last_insert_rowid last_value lcm lead least left length likelihood likely ln localtime
    localtimestamp locate log log10 log2 lower lpad ltrim make_date make_interval make_time
    make_timestamp makedate max md5 microsecond min minute mod month monthname now nth_value ntile
    nullif num_nonnulls obj_description octet_length overlay parse_ident percent_rank
    percentile_cont percentile_disc pg_backend_pid pg_column_size pg_database_size
    pg_get_constraintdef pg_get_expr pg_get_functiondef pg_get_indexdef pg_get_serial_sequence
    pg_get_userbyid pg_get_viewdef pg_indexes_size pg_is_in_recovery pg_postmaster_start_time
    pg_relation_size pg_size_pretty pg_table_is_visible pg_table_size pg_total_relation_size
    pg_typeof pi position pow power printf quarter quote quote_ident quote_literal radians rand
    random randomblob rank regexp_like regexp_match regexp_matches regexp_replace
    regexp_split_to_array regexp_split_to_table regexp_substr repeat replace reverse right round
    row row_number row_to_json rpad rtrim sec_to_time second session_user sha1 sha2 sha256 sign sin
    snippet soundex split_part sqlite_source_id sqlite_version sqrt starts_with stddev stddev_pop
    stddev_samp str_to_date strftime string_agg string_to_array strpos subdate substr substring
    substring_index sum tan timediff timestampadd timestampdiff to_char to_date to_days to_hex
    to_json to_jsonb to_number to_regclass to_timestamp to_tsquery to_tsvector total total_changes
    translate trim trunc truncate ts_headline ts_rank typeof ucase unaccent unhex unicode
    unix_timestamp unixepoch unlikely unnest upper user utc_timestamp uuid uuid_generate_v4
    gen_random_uuid var_pop var_samp variance version week weekday width_bucket xmlagg yearweek
    zeroblob nextval currval setval pg_sleep match against glob array if convert bm25 bin oct ord
    lcase mid space elt sqlite_compileoption_used
    """.split()
)
