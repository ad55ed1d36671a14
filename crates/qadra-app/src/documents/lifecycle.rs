//! Which state of a document leads where. Everything that changes one asks here, so that the rule stands once.

use qadra_types::{Code, Fault};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    PendingApproval,
    Approved,
    Processing,
    Completed,
    Failed,
    Rejected,
    Withdrawn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// A person lets it in.
    Approve,
    /// A person keeps it out.
    Reject,
    /// A worker takes it up, perhaps again after another one died.
    Begin,
    Complete,
    Fail,
    /// A person has it tried again.
    Retry,
    /// A person takes it back, with what only it says.
    Withdraw,
}

impl State {
    pub(crate) const ALL: [Self; 7] = [
        Self::PendingApproval,
        Self::Approved,
        Self::Processing,
        Self::Completed,
        Self::Failed,
        Self::Rejected,
        Self::Withdrawn,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::PendingApproval => "pending_approval",
            Self::Approved => "approved",
            Self::Processing => "processing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Withdrawn => "withdrawn",
        }
    }

    pub(crate) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == word)
    }
}

impl Step {
    /// Where the step leads from a state; `None` when it cannot be taken there.
    pub(crate) fn from(self, state: State) -> Option<State> {
        use State::*;
        match (self, state) {
            (Self::Approve, PendingApproval) | (Self::Retry, Failed) => Some(Approved),
            (Self::Reject, PendingApproval) => Some(Rejected),
            (Self::Begin, Approved | Processing) => Some(Processing),
            (Self::Complete, Processing) => Some(Completed),
            (Self::Fail, Approved | Processing) => Some(Failed),
            (Self::Withdraw, PendingApproval | Approved | Processing | Completed | Failed) => {
                Some(Withdrawn)
            }
            _ => None,
        }
    }

    /// The states it can be taken in, and the one that it leads to.
    pub(crate) fn edges(self) -> (Vec<&'static str>, &'static str) {
        let from: Vec<State> = State::ALL
            .into_iter()
            .filter(|s| self.from(*s).is_some())
            .collect();
        let to = from.first().and_then(|s| self.from(*s));
        (
            from.into_iter().map(State::as_str).collect(),
            to.map_or("", State::as_str),
        )
    }

    fn word(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Reject => "rejected",
            Self::Begin | Self::Complete | Self::Fail => "processed",
            Self::Retry => "tried again",
            Self::Withdraw => "withdrawn",
        }
    }

    /// What someone is told who wants the step in a state that does not have it.
    pub(crate) fn refused(self, state: &str) -> Fault {
        let (from, _) = self.edges();
        Fault::new(
            Code::DocumentState,
            format!(
                "the document is {state}; only one that is {} can be {}",
                from.join(" or "),
                self.word()
            ),
        )
        .hint("read the document again; somebody may have been faster")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: [Step; 7] = [
        Step::Approve,
        Step::Reject,
        Step::Begin,
        Step::Complete,
        Step::Fail,
        Step::Retry,
        Step::Withdraw,
    ];

    #[test]
    fn each_step_leads_to_one_state_wherever_it_is_taken() {
        for step in STEPS {
            let to: Vec<State> = State::ALL
                .into_iter()
                .filter_map(|s| step.from(s))
                .collect();
            assert!(!to.is_empty(), "{step:?}");
            assert!(to.iter().all(|s| *s == to[0]), "{step:?} {to:?}");
            assert_eq!(step.edges().1, to[0].as_str());
        }
    }

    #[test]
    fn nothing_enters_without_a_persons_approval() {
        // Breadth first over every path that has neither approval nor retry (which needs an approval before it).
        let mut seen = vec![State::PendingApproval];
        let mut at = 0;
        while let Some(state) = seen.get(at).copied() {
            at += 1;
            for step in STEPS.into_iter().filter(|s| *s != Step::Approve) {
                if let Some(next) = step.from(state)
                    && !seen.contains(&next)
                {
                    seen.push(next);
                }
            }
        }
        seen.sort_by_key(|s| s.as_str());
        assert_eq!(
            seen,
            [State::PendingApproval, State::Rejected, State::Withdrawn]
        );
    }

    #[test]
    fn rejected_and_withdrawn_are_ends() {
        for step in STEPS {
            assert_eq!(step.from(State::Rejected), None);
            assert_eq!(step.from(State::Withdrawn), None);
        }
    }

    #[test]
    fn the_refusal_says_what_would_be_right() {
        let fault = Step::Retry.refused("completed");
        assert_eq!(fault.code, Code::DocumentState);
        assert_eq!(
            fault.detail,
            "the document is completed; only one that is failed can be tried again"
        );
    }

    #[test]
    fn words_are_read_as_written() {
        for state in State::ALL {
            assert_eq!(State::parse(state.as_str()), Some(state));
        }
        assert_eq!(State::parse("done"), None);
    }
}
