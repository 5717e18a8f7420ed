import type { Origin } from '../as-of/as-of-view.ts'
import { sourceOf } from '../sources/catalogue.ts'
import type { SourceId } from '../sources/source.ts'
import { type LicenceRecord, licences } from './licence.ts'

export type Variant = 'free' | 'paid'

/** An operator's word that a licence was obtained. */
export type LicenceAssertion = {
  source: SourceId
  /** `paid` allows charging; `free` allows showing what needs the operator's consent. */
  allows: Variant
  assertedBy: string
  assertedAt: string
  reference: string
}

export type LicencePolicy = {
  may(source: SourceId, synthetic: boolean, variant: Variant): boolean
  /** Why not, for the answer. */
  reason(source: SourceId): string
  licenceOf(origin: Pick<Origin, 'source' | 'synthetic'>): LicenceRecord
  assertions: readonly LicenceAssertion[]
}

/** What may be shown and what may be sold: the terms of the source, or the operator's assertion of a licence. */
export function createLicencePolicy(options: {
  demo: boolean
  assertions: readonly LicenceAssertion[]
}): LicencePolicy {
  const asserted = (source: SourceId, variant: Variant) =>
    options.assertions.some((one) => one.source === source && (one.allows === 'paid' || one.allows === variant))
  return {
    assertions: options.assertions,
    may: (source, synthetic, variant) => {
      // Demo data are our own, and they may be sold nowhere but in demo mode.
      if (synthetic) return options.demo
      const { licence } = sourceOf(source)
      if (asserted(source, variant)) return true
      return variant === 'paid' ? licence.commercial === 'yes' : licence.free === 'yes'
    },
    reason: (source) => {
      const { licence } = sourceOf(source)
      return licence.commercial === 'no'
        ? `the terms of ${licence.holder} forbid charging`
        : `the terms of ${licence.holder} are not established`
    },
    licenceOf: (origin) => (origin.synthetic ? licences.synthetic : sourceOf(origin.source).licence),
  }
}
