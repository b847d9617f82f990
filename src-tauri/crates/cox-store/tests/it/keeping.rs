//! Settings, rules, the ledger.

use crate::support::*;
use cox_protocol::event::PrefixMark;
use cox_protocol::inbox::{Effect, Rule};
use cox_protocol::settings::Settings;
use cox_protocol::task::{PermissionMode, Usage};
use cox_protocol::{EventKind, ProjectId, RequestId, RuleId};
use cox_store::{LedgerSum, StoreError};

#[tokio::test]
async fn settings_are_kept() {
    let f = fixture();
    assert_eq!(f.store.settings().await.unwrap(), Settings::default());
    let settings = Settings { onboarded: true, durable: true, font_size: 16.0, ..Settings::default() };
    f.store.put_settings(settings.clone()).await.unwrap();
    f.store.append(begin(&session(1), &task(1), "p_1", 1)).await.unwrap();
    let bypass = Settings { permission_mode: PermissionMode::BypassPermissions, ..settings.clone() };
    let refused = f.store.put_settings(bypass).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))), "W25: {refused:?}");
    assert_eq!(f.reopen().store.settings().await.unwrap(), settings);
}

#[tokio::test]
async fn rules_are_kept_once() {
    let f = fixture();
    let project = ProjectId::new("p_1");
    let rule = Rule { effect: Effect::Allow, pattern: "Bash(cargo test *)".into() };
    let unknown = f.store.add_rule(RuleId::new("u_0"), project.clone(), rule.clone(), 1).await;
    assert!(matches!(unknown, Err(StoreError::Refused(_))), "{unknown:?}");
    f.store.put_project(project.clone(), "/home/me/p".into(), 1).await.unwrap();
    let added = f.store.add_rule(RuleId::new("u_1"), project.clone(), rule.clone(), 2).await.unwrap();
    let again = f.store.add_rule(RuleId::new("u_2"), project.clone(), rule.clone(), 3).await.unwrap();
    assert_eq!(added, again);
    let deny = Rule { effect: Effect::Deny, ..rule };
    let denied = f.store.add_rule(RuleId::new("u_3"), project.clone(), deny, 4).await.unwrap();
    let f = f.reopen();
    assert_eq!(f.store.rules(&project).await.unwrap(), [added.clone(), denied.clone()]);
    assert_eq!(f.store.remove_rule(&added.id).await.unwrap(), Some(added.clone()));
    assert_eq!(f.store.remove_rule(&added.id).await.unwrap(), None);
    assert_eq!(f.store.rules(&project).await.unwrap(), [denied]);
}

// W38: a row a request; sums are told for each task and model.
#[tokio::test]
async fn the_ledger_adds_up() {
    let f = fixture();
    let s = session(1);
    let request = |n: u32, model: &str, cost, estimated| EventKind::Usage {
        request_id: RequestId::new(format!("r_{n}")),
        model: model.into(),
        usage: Usage { input: 10, output: 2, cache_read: 100, cache_write: 1, estimated },
        cost_micro_usd: cost,
        price_version: "2026-12".into(),
        prefix: PrefixMark::default(),
        moved: None,
    };
    f.store
        .append(vec![
            of_task(&s, &task(2), 1, request(1, "big", Some(5), false)),
            of_task(&s, &task(1), 1, request(2, "small", None, false)),
            of_task(&s, &task(2), 1, request(3, "big", Some(7), false)),
            of_task(&s, &task(2), 1, request(4, "small", None, true)),
            of_task(&session(2), &task(3), 1, request(5, "big", Some(9), false)),
        ])
        .await
        .unwrap();
    let sum = |n, model: &str, requests: u32, cost, unpriced, estimated| LedgerSum {
        task_id: Some(task(n)),
        model: model.into(),
        requests,
        usage: Usage {
            input: 10 * u64::from(requests),
            output: 2 * u64::from(requests),
            cache_read: 100 * u64::from(requests),
            cache_write: u64::from(requests),
            estimated,
        },
        cost_micro_usd: cost,
        unpriced_requests: unpriced,
    };
    assert_eq!(
        f.store.ledger(&s).await.unwrap(),
        [sum(2, "big", 2, 12, 0, false), sum(1, "small", 1, 0, 1, false), sum(2, "small", 1, 0, 1, true)]
    );
}
