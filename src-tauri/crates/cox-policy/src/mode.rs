//! Permission modes: which of two is the stricter, and which one a worker gets.

use crate::role::Role;
use cox_protocol::task::PermissionMode;

/// The stricter of two modes (W25). Rights only shrink: a child never gets the freer one.
pub fn stricter(a: PermissionMode, b: PermissionMode) -> PermissionMode {
    a.min(b)
}

/// The mode of a worker: the stricter of the session's and its role's, or `acceptEdits` where the role names
/// none (W25, D7).
pub fn worker_mode(session: PermissionMode, role: Role) -> PermissionMode {
    stricter(session, role.mode().unwrap_or(PermissionMode::AcceptEdits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use PermissionMode::{AcceptEdits, BypassPermissions, Default, Plan};

    #[test]
    fn a_worker_never_has_a_freer_mode_than_its_session() {
        // W25, N30
        for session in [Plan, Default, AcceptEdits, BypassPermissions] {
            for role in Role::ALL {
                assert!(worker_mode(session, role) <= session, "{role:?} in {session:?}");
            }
        }
    }

    #[test]
    fn a_worker_without_a_mode_of_its_own_accepts_edits_at_most() {
        // B67, D7
        assert_eq!(worker_mode(Default, Role::Worker), Default);
        assert_eq!(worker_mode(AcceptEdits, Role::Worker), AcceptEdits);
        assert_eq!(worker_mode(BypassPermissions, Role::Worker), AcceptEdits);
        assert_eq!(worker_mode(BypassPermissions, Role::Plan), Plan);
    }

    #[test]
    fn the_stricter_mode_wins_in_either_order() {
        assert_eq!(stricter(Plan, BypassPermissions), Plan);
        assert_eq!(stricter(AcceptEdits, Default), Default);
    }
}
