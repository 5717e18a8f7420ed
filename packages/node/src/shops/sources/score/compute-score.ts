import * as scoring from './components.ts'
import type { SourceEvidence } from './evidence.ts'
import { type Component, modelVersion } from './model.ts'

export type Score = {
  score: number
  confidence: number
  evidenceCount: number
  components: readonly Component[]
  gate: { value: number; reason: string }
  modelVersion: string
  /** What would raise it most, best first. */
  advice: readonly { component: string; signal: string; advice: string; points: number }[]
}

/** Pure: the same evidence always gives the same score. */
export function computeScore(evidence: SourceEvidence): Score {
  const components = [
    scoring.authority(evidence),
    scoring.provenance(evidence),
    scoring.machineReadability(evidence),
    scoring.freshness(evidence),
    scoring.licenceClarity(evidence),
    scoring.usageQuality(evidence),
  ]
  const gate = scoring.gate(evidence)
  const sum = components.reduce((total, part) => total + part.weight * part.value, 0)
  const known = components.reduce((total, part) => total + part.weight * part.known, 0)
  // A handful of pages says less about a site than many.
  const breadth = evidence.pages.length / (evidence.pages.length + 3)
  return {
    score: roundScore(sum, gate.value),
    confidence: Math.round(known * (0.5 + 0.5 * breadth) * 1_000) / 1_000,
    evidenceCount:
      components.reduce(
        (total, part) => total + part.signals.filter((signal) => signal.value !== undefined).length,
        0,
      ) + evidence.pages.length,
    components,
    gate,
    modelVersion,
    advice: adviceOf(components),
  }
}

/** The database computes the same when only authority changed. */
export const roundScore = (sum: number, gate: number) => Math.round(100 * sum * gate)

function adviceOf(components: readonly Component[]): Score['advice'] {
  return components
    .flatMap((component) => {
      const total = component.signals.reduce((sum, signal) => sum + signal.weight, 0)
      return component.signals
        .filter((signal) => (signal.value ?? signal.prior) < 0.95)
        .map((signal) => ({
          component: component.id,
          signal: signal.id,
          advice: signal.advice,
          points:
            Math.round(1_000 * component.weight * (signal.weight / total) * (1 - (signal.value ?? signal.prior))) / 10,
        }))
    })
    .sort((one, other) => other.points - one.points || one.signal.localeCompare(other.signal))
}
