//! Dated migrations, gathered from the tables.
//!
//! Changes are additive. To change a table, append a [`Dated`] with a later date than all others to its file's
//! `MIGRATIONS`; the number of migrations is the database's format, so an older one never changes place.

use crate::table;
use rusqlite_migration::{M, Migrations};

/// One change of one table.
pub(crate) struct Dated {
    /// Year, month, day, and two digits that order the changes of one day.
    pub(crate) date: u32,
    /// What to do.
    pub(crate) sql: &'static str,
}

/// All changes, the oldest first.
pub(crate) fn all() -> Vec<&'static Dated> {
    let mut all: Vec<&Dated> = [
        table::blobs::MIGRATIONS,
        table::events::MIGRATIONS,
        table::sessions::MIGRATIONS,
        table::tasks::MIGRATIONS,
        table::inbox::MIGRATIONS,
        table::messages::MIGRATIONS,
        table::notifications::MIGRATIONS,
        table::calls::MIGRATIONS,
        table::processes::MIGRATIONS,
        table::usage::MIGRATIONS,
        table::partials::MIGRATIONS,
        table::projects::MIGRATIONS,
        table::rules::MIGRATIONS,
        table::settings::MIGRATIONS,
    ]
    .into_iter()
    .flatten()
    .collect();
    all.sort_by_key(|dated| dated.date);
    all
}

/// The format that this version writes.
pub(crate) fn format() -> u32 {
    u32::try_from(all().len()).unwrap_or(u32::MAX)
}

/// For rusqlite_migration.
pub(crate) fn migrations() -> Migrations<'static> {
    Migrations::new(all().into_iter().map(|dated| M::up(dated.sql)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_unique_and_the_statements_run() {
        let dates: Vec<u32> = all().iter().map(|dated| dated.date).collect();
        assert!(dates.windows(2).all(|pair| pair[0] < pair[1]), "two migrations with one date: {dates:?}");
        migrations().validate().unwrap();
    }

    /// The format counts them, so one that has been released must never move or go.
    #[test]
    fn released_migrations_stay_in_their_places() {
        let released: [u32; 14] = [
            2026120101, 2026120102, 2026120103, 2026120104, 2026120105, 2026120106, 2026120107, 2026120108,
            2026120109, 2026120110, 2026120111, 2026120112, 2026120113, 2026120114,
        ];
        let dates: Vec<u32> = all().iter().map(|dated| dated.date).collect();
        assert_eq!(dates[..released.len()], released, "append migrations, never insert them");
    }
}
