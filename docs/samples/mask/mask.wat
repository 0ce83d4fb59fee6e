;; A plugin for Placet by the contract of Extism: a tool is an exported function that reads its
;; input and sets its output, both JSON. This one copies its input and replaces digits by `#`,
;; except those of escapes such as `\u001f`. Compilers make the same from other languages.
(module
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (import "extism:host/env" "input_load_u8" (func $input (param i64) (result i32)))
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (memory (export "memory") 1)

  (func (export "mask_digits") (result i32)
    (local $length i64) (local $output i64) (local $at i64) (local $byte i32)
    ;; how many bytes are copied as they are, because a backslash stands before them
    (local $kept i32)
    (local.set $length (call $input_length))
    (local.set $output (call $alloc (local.get $length)))
    (block $done
      (loop $next
        (br_if $done (i64.ge_u (local.get $at) (local.get $length)))
        (local.set $byte (call $input (local.get $at)))
        (if (local.get $kept)
          (then
            (local.set $kept (i32.sub (local.get $kept) (i32.const 1)))
            ;; `u`: four digits follow
            (if (i32.eq (local.get $byte) (i32.const 117))
              (then (local.set $kept (i32.const 4)))))
          (else
            (if (i32.eq (local.get $byte) (i32.const 92))
              (then (local.set $kept (i32.const 1)))
              (else
                (if (i32.and
                      (i32.ge_u (local.get $byte) (i32.const 48))
                      (i32.le_u (local.get $byte) (i32.const 57)))
                  (then (local.set $byte (i32.const 35))))))))
        (call $store (i64.add (local.get $output) (local.get $at)) (local.get $byte))
        (local.set $at (i64.add (local.get $at) (i64.const 1)))
        (br $next)))
    (call $output_set (local.get $output) (local.get $length))
    (i32.const 0)))
