use std::fmt;

use serde::{Deserialize, Serialize};

/// The fourteen kinds of node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum NodeKind {
    Start,
    End,
    Agent,
    Condition,
    HumanInput,
    Loop,
    Http,
    ExecuteFlow,
    Transform,
    Delay,
    KnowledgeLookup,
    Research,
    Artifact,
    Extract,
}

impl NodeKind {
    pub const ALL: [Self; 14] = [
        Self::Start,
        Self::End,
        Self::Agent,
        Self::Condition,
        Self::HumanInput,
        Self::Loop,
        Self::Http,
        Self::ExecuteFlow,
        Self::Transform,
        Self::Delay,
        Self::KnowledgeLookup,
        Self::Research,
        Self::Artifact,
        Self::Extract,
    ];

    /// Reads a type name without regard to case, `_`, `-` and spaces: `human_input` is `HumanInput`.
    pub fn parse(name: &str) -> Option<Self> {
        let folded: String = name
            .chars()
            .filter(|c| !matches!(c, '_' | '-' | ' '))
            .flat_map(char::to_lowercase)
            .collect();
        Self::ALL
            .into_iter()
            .find(|k| k.name().to_lowercase() == folded)
    }

    /// The type name as the catalog spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "Start",
            Self::End => "End",
            Self::Agent => "Agent",
            Self::Condition => "Condition",
            Self::HumanInput => "HumanInput",
            Self::Loop => "Loop",
            Self::Http => "Http",
            Self::ExecuteFlow => "ExecuteFlow",
            Self::Transform => "Transform",
            Self::Delay => "Delay",
            Self::KnowledgeLookup => "KnowledgeLookup",
            Self::Research => "Research",
            Self::Artifact => "Artifact",
            Self::Extract => "Extract",
        }
    }

    /// Whether the engine computes the outcome itself, from the state alone.
    pub fn is_pure(self) -> bool {
        matches!(
            self,
            Self::Start | Self::End | Self::Condition | Self::Transform
        )
    }
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_without_regard_to_case_and_separators() {
        for name in ["HumanInput", "human_input", "human-input", "HUMANINPUT"] {
            assert_eq!(NodeKind::parse(name), Some(NodeKind::HumanInput), "{name}");
        }
        for kind in NodeKind::ALL {
            assert_eq!(NodeKind::parse(kind.name()), Some(kind));
        }
        assert_eq!(NodeKind::parse("Teleport"), None);
        assert_eq!(NodeKind::parse(""), None);
    }
}
