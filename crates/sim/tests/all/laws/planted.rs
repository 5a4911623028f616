//! Faults of time, planted in the machine (`strandline_rules::time`), and the laws that catch each.

use super::{busy, far, idle, judge, own, stale, waits, Verdict};
use std::panic::catch_unwind;
use strandline_rules::time::Rule as Time;
use strandline_rules::{breaking, Breakable, Rule};

/// A law, in one short case on bare machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Law {
    Idle,
    Own,
    Media,
    Packets,
    Waits,
    Stale,
    Far,
}

const LAWS: [Law; 7] = [
    Law::Idle,
    Law::Own,
    Law::Media,
    Law::Packets,
    Law::Waits,
    Law::Stale,
    Law::Far,
];

impl Law {
    fn holds(self) -> Verdict {
        match self {
            Law::Idle => idle::holds("asap", "x86").and_then(|()| idle::holds("asap", "eadr")),
            Law::Own => own::holds("x86", 2).and_then(|()| own::holds("eadr", 2)),
            Law::Media => busy::streams("asap", 1.0),
            Law::Packets => busy::packets(),
            Law::Waits => waits::bare("x86").and_then(|()| waits::bare("eadr")),
            Law::Stale => stale::holds("eadr"),
            Law::Far => far::holds("dpo").and_then(|()| far::holds("asap-rp")),
        }
    }
}

/// A fault, and the laws that catch it.
struct Fault {
    rule: Time,
    caught_by: &'static [Law],
}

const fn fault(rule: Time, caught_by: &'static [Law]) -> Fault {
    Fault { rule, caught_by }
}

const FAULTS: [Fault; 11] = [
    fault(Time::TurnIsNoAction, &[Law::Idle]),
    fault(
        Time::StepInItsOwnCycle,
        &[Law::Idle, Law::Own, Law::Media, Law::Packets, Law::Waits, Law::Far],
    ),
    fault(Time::SlackIsTakenOnce, &[Law::Stale]),
    fault(Time::WokenAtOnce, &[Law::Idle, Law::Waits]),
    fault(Time::WokenNoEarlier, &[Law::Idle, Law::Own, Law::Waits]),
    fault(Time::WokenByItsOwn, &[Law::Idle, Law::Own, Law::Waits]),
    fault(Time::EveryWakeArrives, &[Law::Idle]),
    fault(Time::PortBookedOnce, &[Law::Media]),
    fault(Time::ChannelIsOccupied, &[Law::Packets]),
    fault(Time::PacketsCrossLink, &[Law::Far]),
    fault(Time::CommitsCrossLink, &[Law::Far]),
];

/// The laws that are broken on a machine with this fault.
fn catchers(rule: Breakable) -> Vec<Law> {
    // The machine's own assertion ends some runs.
    let holds = |law: &Law| catch_unwind(|| breaking(Some(rule), || law.holds()));
    let is_broken = |law: &Law| !matches!(holds(law), Ok(Ok(())));
    LAWS.into_iter().filter(is_broken).collect()
}

#[test]
fn each_fault_of_time_is_caught_by_its_laws_and_no_others() {
    let judged = Time::ALL.iter().map(|rule| {
        let fault = FAULTS.iter().find(|fault| fault.rule.any() == *rule);
        let (caught, listed) = (catchers(*rule), fault.map_or(&[][..], |fault| fault.caught_by));
        match !caught.is_empty() && caught == listed {
            true => Ok(()),
            false => Err(format!("{}: caught by {caught:?}, listed {listed:?}", rule.name)),
        }
    });
    judge(judged);
}

/// A machine whose tests may break rules takes slower paths than others. What none of these runs asks for changes nothing.
#[test]
fn a_rule_that_no_run_asks_for_breaks_no_law() {
    assert_eq!(catchers(Rule::WalBitDecides.into()), []);
}
