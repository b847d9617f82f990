//! Ids as a port (W1, W6): sortable, short enough for a model to copy, minted from the clock and a source of
//! randomness that a test can fix.

use crate::clock::Clock;
use std::sync::{Arc, Mutex, PoisonError};

/// A source of random bits.
pub type Random = Box<dyn FnMut() -> u64 + Send>;

/// Makes ids: a prefix, the time, a counter or random bits, in base 32.
#[derive(Clone)]
pub struct Mint {
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<State>>,
}

struct State {
    last: u128,
    random: Random,
}

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const TIME_CHARS: usize = 9;
const RANDOM_CHARS: usize = 6;
const RANDOM_BITS: u32 = 30;

impl Mint {
    /// A mint over this clock and this randomness.
    pub fn new(clock: Arc<dyn Clock>, random: Random) -> Self {
        Self { clock, state: Arc::new(Mutex::new(State { last: 0, random })) }
    }

    /// The next id with this prefix. Ids of one mint grow strictly, also within a millisecond.
    pub fn next(&self, prefix: &str) -> String {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let time = u128::try_from(self.clock.now_ms().max(0)).unwrap_or_default();
        let bits = u128::from((state.random)() & ((1 << RANDOM_BITS) - 1));
        let value = ((time << RANDOM_BITS) | bits).max(state.last + 1);
        state.last = value;
        let chars = TIME_CHARS + RANDOM_CHARS;
        let digits = (0..chars).rev().map(|at| {
            let digit = usize::try_from((value >> (at * 5)) & 31).unwrap_or_default();
            char::from(ALPHABET[digit])
        });
        format!("{prefix}{}", digits.collect::<String>())
    }
}

/// Randomness from the operating system's seed, as the standard library's hash maps use it.
pub fn system_random() -> Random {
    use std::hash::{BuildHasher, Hasher};
    let seed = std::collections::hash_map::RandomState::new();
    let mut count = 0u64;
    Box::new(move || {
        count += 1;
        let mut hasher = seed.build_hasher();
        hasher.write_u64(count);
        hasher.finish()
    })
}

/// The same numbers every time, for tests.
pub fn counted_random() -> Random {
    let mut count = 0u64;
    Box::new(move || {
        count += 1;
        count
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TestClock;

    // W1: ids sort in the order in which they were made, within a millisecond too.
    #[test]
    fn ids_grow() {
        let clock = TestClock::at(1_790_000_000_000);
        let mint = Mint::new(Arc::new(clock.clone()), system_random());
        let mut ids: Vec<String> = (0..100).map(|_| mint.next("t")).collect();
        clock.advance(std::time::Duration::from_millis(1));
        ids.extend((0..100).map(|_| mint.next("t")));
        let mut sorted = ids.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(ids, sorted, "sorted and distinct");
        assert_eq!(ids[0].len(), 16, "prefix and fifteen digits");
    }
}
