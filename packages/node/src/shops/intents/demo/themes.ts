/** What simulated agents ask: words of a topic, and words that the demo's own pages have an answer to. */
export type Theme = { cluster: string; periodMs: number; queries: readonly string[] }

const minute = 60_000

export const themes: readonly Theme[] = [
  {
    cluster: '414',
    periodMs: 11 * minute,
    queries: [
      'stocks and bonds with many days to cover',
      'stocks that are dear to borrow',
      'stocks and bonds: short interest published late',
      'stocks after a squeeze',
    ],
  },
  {
    cluster: '618',
    periodMs: 17 * minute,
    queries: [
      'information and network security of a multisig wallet',
      'network security: who holds the keys',
      'information and network security of a timelock',
      'network security of an administrator',
    ],
  },
  {
    cluster: '63',
    periodMs: 7 * minute,
    queries: [
      'business banking and finance: a receipt that binds a payment',
      'business banking: when is a transfer final',
      'business banking and finance for agents that pay',
      'business banking: replayed payments',
    ],
  },
  {
    cluster: '611',
    periodMs: 23 * minute,
    queries: [
      'databases that keep every version published',
      'databases: late and revised data',
      'databases that refuse a second copy of a key',
      'databases with missing values',
    ],
  },
]

/**
 * Between 0.55 and 1.45: interest comes and goes, for each theme in its own rhythm, with a slower swell below it. Never so
 * little that too few agents ask for a theme to publish it: what is listed on it must be able to settle.
 */
export function popularity({ periodMs }: Theme, atMs: number): number {
  const wave = (period: number) => Math.sin((2 * Math.PI * atMs) / period)
  return 1 + 0.3 * wave(periodMs) + 0.15 * wave(periodMs * 37)
}
