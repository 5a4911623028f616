//! Tests for other simulators.

use strandline_order::{export, shelf, Form, Test};

const TEXT: &str = "X86 two words
\"A title with *) and {\"
Line=x y
Volatile=lock
Output=o
{ x=1; y=0; lock=0; }
 P0             | P1             ;
 MOV [y],$2     | XCHG [lock],R8 ;
 CLWB [x]       | CMP R8,$1      ;
 CLFLUSHOPT [x] | JNE LC00       ;
 CLFLUSH [x]    | LC00:          ;
 SFENCE         | XOR ECX,ECX    ;
 MOVNTI [y],$3  | MOVNTI [x],ECX ;
 MOV [lock],$1  | OUT [o],R8     ;
 MFENCE         | MOV EAX,$7     ;
~exists (y=0 /\\ o=1)
";

fn test(text: &str) -> Test {
    Test::parse(text).unwrap_or_else(|fault| panic!("{fault}"))
}

/// `lock` is an instruction to herd7; `lock_` cannot be.
#[test]
fn herd_reads_each_instruction_in_its_own_words() {
    let expected = "X86_64 two_words
(* A title with * ) and (
   herd7 has no crash: it shows the states after all instructions.
   What a crash may leave cannot be asked here: ~exists (y=0 /\\ o=1)
   In persistent memory: x y.
   In DRAM: lock.
   Outputs, written as stores here: o.
   In one cache line, of which herd7 knows nothing: x y.
   herd7 has no clwb: it is written as clflushopt, which x86 orders alike.
   Names of several letters have a `_` more here than in the test. *)
{ lock_=0; x=1; y=0; }
 P0               | P1                 ;
 movl $2,(y)      | xchgl %r8d,(lock_) ;
 clflushopt (x)   | cmpl $1,%r8d       ;
 clflushopt (x)   | jne LC00           ;
 clflush (x)      | LC00:              ;
 sfence           | xorl %ecx,%ecx     ;
 movl $3,%ebp     | movntil %ecx,(x)   ;
 movntil %ebp,(y) | movl %r8d,(o)      ;
 movl $1,(lock_)  | movl $7,%eax       ;
 mfence           |                    ;

locations [lock_; x; y; o; 1:r8;]
forall (true)
";
    assert_eq!(export(&test(TEXT), "two words", Form::Herd).as_deref(), Ok(expected));
}

#[test]
fn what_a_simulator_lacks_is_named() {
    let refused = |instruction: &str, form| {
        let text = TEXT.replace("MFENCE", instruction);
        let refusal = export(&test(&text), "it", form).expect_err("an instruction that is lacking");
        refusal.to_string()
    };
    for (instruction, lacking) in [
        ("OFENCE", "x86 has no `OFENCE`"),
        ("PCOMMIT", "x86 has no `PCOMMIT`"),
        ("DURABLE", "x86 has no `DURABLE`"),
        ("LDAR ESI,[x]", "x86 has no `LDAR ESI,[x]`"),
        ("SETCTX $1", "x86 has no `SETCTX $1`"),
    ] {
        assert_eq!(refused(instruction, Form::C), lacking);
        assert_eq!(refused(instruction, Form::Herd), lacking.replace("x86", "herd7"));
    }
    for instruction in ["LOCK XADD [x],EAX", "MOV EAX,[x+EDI]"] {
        assert_eq!(
            refused(instruction, Form::Herd),
            format!("herd7 has no `{instruction}`")
        );
        let text = TEXT.replace("MFENCE", instruction);
        assert!(export(&test(&text), "it", Form::C).is_ok());
    }
}

#[test]
fn a_test_with_hosts_is_refused() {
    let text = TEXT.replace("P0 ", "P0@h0 ").replace("P1 ", "P1@h0 ");
    for (form, lacking) in [(Form::C, "a program"), (Form::Herd, "herd7")] {
        let refusal = export(&test(&text), "it", form).expect_err("hosts");
        assert_eq!(refusal.to_string(), format!("{lacking} has no `P0@h0`"));
    }
}

/// Of x86's own instructions, herd7 lacks those of three tests.
#[test]
fn the_shelf_has_tests_for_others() {
    let count = |form| {
        let tests = shelf()
            .into_iter()
            .map(|entry| (entry.path, entry.test().unwrap_or_else(|fault| panic!("{fault}"))));
        tests.filter(|(path, test)| export(test, path, form).is_ok()).count()
    };
    assert_eq!((count(Form::C), count(Form::Herd)), (132, 129));
}
