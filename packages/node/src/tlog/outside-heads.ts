import { type CollectDeps, collectCosignatures, type WitnessPeer } from './collect-cosignatures.ts'

/** A tree head of this log that somebody else holds. It counts only if this log signed it. */
export type OutsideHead = { source: string; note: string }

/** A witness names a size and shows no head: what it says is believed, because the operator chose it. */
export type WitnessVerdict = {
  source: string
  size: number
  agrees: boolean
  /** It contradicts by its size alone. */
  larger: boolean
  reason: string | null
}

export type OutsideReport = OutsideHead | WitnessVerdict

/** Where tree heads of this log can be learned of: witnesses, anchors on chain, peers of the mesh, mirrors. */
export type HeadSource = {
  name: string
  /** It sees every head soon after it was signed, so one answer of it is enough after a restore. */
  seesEveryHead: boolean
  /** Rejects when the source could not be reached. `again`: what was learned before a restore does not count. */
  outsideHeads(again: boolean): Promise<OutsideReport[]>
}

export const witnessSource = (name: string): string => `witness ${name}`

/** One source for each: one that is away must not hide what another says. */
export function witnessSources(deps: CollectDeps, witnesses: readonly WitnessPeer[]): HeadSource[] {
  return witnesses.map((witness) => ({
    name: witnessSource(witness.key.name),
    seesEveryHead: witness.inside !== true,
    outsideHeads: async (again) => {
      const [answer] = await collectCosignatures(deps, [witness], { again })
      const source = witnessSource(witness.key.name)
      if (answer?.outcome === 'signed')
        return [{ source, size: answer.size, agrees: true, larger: false, reason: null }]
      // It answers, and has seen no head of this log.
      if (answer?.outcome === 'refused' && answer.isNew)
        return [{ source, size: 0, agrees: true, larger: false, reason: null }]
      if (answer?.outcome === 'contradicted') {
        // What it signed bears our own signature: that stays known when the witness is no longer configured.
        const note = await witness.readHead?.(deps.tree.origin).catch(() => undefined)
        const verdict = { ...answer, source, agrees: false, reason: `${source} ${answer.reason}` }
        return note === undefined ? [verdict] : [verdict, { source: `${source}, its head`, note }]
      }
      throw new Error(answer?.reason ?? 'the witness was not asked')
    },
  }))
}
