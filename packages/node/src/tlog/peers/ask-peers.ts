import type { NoteKey } from '@assay/protocol/log/signed-note'
import type { Clock } from '@assay/till/kernel/clock'
import { askWitness, type CollectDeps } from '../collect-cosignatures.ts'
import { newestCheckpoint, recentPeerKeys } from '../store.ts'
import type { PeerLogs, PeerWitness } from './peer-logs.ts'
import { peerWitness, witnessKeyOf } from './peer-witness.ts'

export type AskPeersDeps = CollectDeps & { clock: Clock; peers: PeerLogs }
export type AskPeersSettings = {
  /** Peers asked at most. 0 asks none. */
  witnessesMax: number
  /** Between two heads shown to one peer, at least. */
  everyMs: number
}

const pauseMsMax = 3_600_000

type Turn = { failures: number; nextAtMs: number }

/**
 * Shows new tree heads to the witnesses of peers. Those that have cosigned before are asked as long as they live, also
 * after a restart, so that a stranger gets a place only where one is free; one that fails is asked ever more rarely.
 */
export function createPeerAsker(
  deps: AskPeersDeps,
  settings: AskPeersSettings,
  configured: readonly NoteKey[],
): () => Promise<void> {
  const turns = new Map<string, Turn>()
  return async () => {
    if (settings.witnessesMax === 0) return
    const newest = await newestCheckpoint(deps.database)
    if (!newest) return
    const known = [...new Set([...(await recentPeerKeys(deps.database)), ...turns.keys()])]
    const chosen = chooseWitnesses(await deps.peers.witnesses(known), known, configured, settings.witnessesMax)
    for (const vkey of turns.keys()) if (!chosen.some(({ key }) => key.vkey === vkey)) turns.delete(vkey)
    const nowMs = deps.clock.monotonicMs()
    await Promise.all(
      chosen.map(async ({ witness, key }) => {
        const turn = turns.get(key.vkey) ?? { failures: 0, nextAtMs: 0 }
        turns.set(key.vkey, turn)
        if (turn.nextAtMs > nowMs) return
        const answer = await askWitness(deps, peerWitness(deps.peers, witness, key), newest).catch(
          (error: unknown) => ({
            outcome: 'refused' as const,
            reason: String(error).slice(0, 200),
          }),
        )
        const signed = answer.outcome === 'signed'
        turn.failures = signed ? 0 : turn.failures + 1
        turn.nextAtMs = nowMs + Math.min(pauseMsMax, settings.everyMs * 2 ** Math.min(turn.failures, 10))
        deps.metrics.count('log_peer_cosignatures', { outcome: signed ? 'signed' : 'refused' })
        if (turn.failures === 1) deps.log.info({ witness: key.name, ...answer }, 'a peer did not cosign')
      }),
    )
  }
}

/** Those known before come first, in their order, then the healthiest. A key that the operator configured is asked there. */
export function chooseWitnesses(
  offered: readonly PeerWitness[],
  before: readonly string[],
  configured: readonly NoteKey[],
  limit: number,
): { witness: PeerWitness; key: NoteKey }[] {
  const known = new Map<string, { witness: PeerWitness; key: NoteKey }>()
  for (const witness of offered) {
    const key = witnessKeyOf(witness)
    if (!key || configured.some((one) => one.name === key.name || one.x === key.x)) continue
    // One key under two names is one witness.
    const id = key.x
    if (!known.has(id)) known.set(id, { witness, key })
  }
  const places = new Map(before.map((vkey, place) => [vkey, place]))
  const rank = ({ key }: { key: NoteKey }) => places.get(key.vkey) ?? before.length
  return [...known.values()]
    .sort((a, b) => rank(a) - rank(b) || b.witness.health - a.witness.health || (a.key.vkey < b.key.vkey ? -1 : 1))
    .slice(0, limit)
}
