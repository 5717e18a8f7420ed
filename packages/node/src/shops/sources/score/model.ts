/** CiteScore, version by version: a change of weights, priors or rules is a new version. */
export const modelVersion = 'citescore-1.3'

export type ComponentId =
  | 'authority'
  | 'provenance'
  | 'machine_readability'
  | 'freshness'
  | 'licence_clarity'
  | 'usage_quality'

export const componentWeights: Readonly<Record<ComponentId, number>> = {
  authority: 0.3,
  provenance: 0.2,
  machine_readability: 0.15,
  freshness: 0.1,
  licence_clarity: 0.1,
  usage_quality: 0.15,
}

export type EvidenceItem = { what: string; url: string; sha256: string | undefined; checkedAt: string | undefined }

/** One signal. Undefined is unknown: the prior is used, and confidence falls. */
export type Signal = {
  id: string
  weight: number
  value: number | undefined
  prior: number
  /** One sentence: what to do to raise it. */
  advice: string
  evidence?: readonly EvidenceItem[]
}

export type Component = {
  id: ComponentId
  value: number
  weight: number
  /** Share of it that rests on evidence and not on priors. */
  known: number
  signals: readonly Signal[]
}

export function componentOf(id: ComponentId, signals: readonly Signal[]): Component {
  const total = signals.reduce((sum, signal) => sum + signal.weight, 0)
  const weighted = (of: (signal: Signal) => number) =>
    signals.reduce((sum, signal) => sum + signal.weight * of(signal), 0) / total
  return {
    id,
    value: clamp(weighted((signal) => signal.value ?? signal.prior)),
    weight: componentWeights[id],
    known: weighted((signal) => (signal.value === undefined ? 0 : 1)),
    signals,
  }
}

export const clamp = (value: number) => Math.min(1, Math.max(0, value))
