import type { TokenPower } from '@assay/sdk'
import { words } from '../../ui/format.ts'

export type GraphNode = { id: string; label: string; kind: string; y: number }
export type GraphEdge = { from: number; to: number; now: boolean; how: string }
export type Graph = {
  accounts: GraphNode[]
  powers: (GraphNode & { state: TokenPower['state'] })[]
  edges: GraphEdge[]
  height: number
  leftOut: number
}

/** `eoa` is what chains call the account of one key. */
const kindText = (kind: string) => (kind === 'eoa' ? 'one key' : words(kind))

const row = 34
const accountsMax = 14

/** Accounts on the left in the order of how much they hold, powers on the right; lines from one to the other. */
export function layoutControl(powers: Record<string, TokenPower>): Graph {
  const held = new Map<string, { kind: string; lines: number }>()
  for (const power of Object.values(powers))
    for (const party of [...power.who, ...power.could_become]) {
      const known = held.get(party.account)
      held.set(party.account, { kind: kindText(party.label.kind), lines: (known?.lines ?? 0) + 1 })
    }
  const all = [...held].sort(([, a], [, b]) => b.lines - a.lines)
  const shown = all.slice(0, accountsMax)
  const names = Object.keys(powers)
  const height = Math.max(shown.length, names.length, 1) * row
  const place = (count: number, index: number) => Math.round((height / count) * (index + 0.5))
  const at = new Map(shown.map(([account], index) => [account, index]))
  const edges = names.flatMap((name, to) => {
    const power = powers[name]
    if (power === undefined) return []
    const lines = (parties: TokenPower['who'], now: boolean) =>
      parties.flatMap(({ account, how }) => {
        const from = at.get(account)
        return from === undefined ? [] : [{ from, to, now, how }]
      })
    return [...lines(power.who, true), ...lines(power.could_become, false)]
  })
  return {
    accounts: shown.map(([id, { kind }], index) => ({ id, label: id, kind, y: place(shown.length, index) })),
    powers: names.map((name, index) => ({
      id: name,
      label: name,
      kind: 'power',
      state: powers[name]?.state ?? 'unknown',
      y: place(names.length, index),
    })),
    edges,
    height,
    leftOut: all.length - shown.length,
  }
}
