/** What a proof gives back: its figure in words, and everything that broke the promise. */
export type Verdict = { seen: string; faults: readonly string[] }

export type ProofOptions = {
  /** How many requests, runs or amounts; each proof says what it counts. */
  count: number
  say(text: string): void
}

export type Proof = (options: ProofOptions) => Promise<Verdict>

export const plain = (value: number, digits = 0) => value.toLocaleString('en-US', { maximumFractionDigits: digits })

/** Collects faults without drowning the reader in ten thousand of the same kind. */
export function createFaults(kept = 20) {
  const texts: string[] = []
  let count = 0
  return {
    note(text: string): void {
      count += 1
      if (texts.length < kept) texts.push(text)
    },
    count: () => count,
    all: (): string[] => (count > texts.length ? [...texts, `and ${count - texts.length} more`] : texts),
  }
}

export type Faults = ReturnType<typeof createFaults>

/** Reports the progress of a long run, at most every few seconds. */
export function createProgress(say: (text: string) => void, whole: number, what: string, everyMs = 5_000) {
  const startedMs = performance.now()
  let saidMs = startedMs
  return (done: number): void => {
    const nowMs = performance.now()
    if (nowMs - saidMs < everyMs) return
    saidMs = nowMs
    const perSecond = done / ((nowMs - startedMs) / 1000)
    say(`  ${plain(done)} of ${plain(whole)} ${what}, ${plain(perSecond)} a second`)
  }
}

/** Small and quick, and the same for the same seed. */
export function createDice(seed: number) {
  let state = seed >>> 0
  const roll = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (end: number): number => Math.floor(roll() * end)
  return { roll, below, pick: <T>(from: readonly T[]): T => from[below(from.length)] as T }
}

export type Dice = ReturnType<typeof createDice>
