import { XmlRefused, xmlEvents } from './xml.ts'

export type RslTerms = {
  /** Address or path pattern of the content it is for. */
  content: string
  permits: readonly string[]
  prohibits: readonly string[]
  payments: readonly { type: string; amount: string | undefined; currency: string | undefined }[]
  standard: string | undefined
}

export type RslOutcome = { status: 'ok'; terms: readonly RslTerms[] } | { status: 'malformed'; detail: string }

/** RSL 1.0 (rslstandard.org): licences for content, with uses permitted and prohibited and what they cost. */
export function parseRsl(text: string): RslOutcome {
  const terms: RslTerms[] = []
  let licence:
    | {
        content: string
        permits: string[]
        prohibits: string[]
        payments: { type: string; amount: string | undefined; currency: string | undefined }[]
        standard: string | undefined
      }
    | undefined
  let field = ''
  let content = '/'
  let root: string | undefined
  try {
    for (const event of xmlEvents(text.replace(/^\ufeff/, ''))) {
      if (event.kind === 'open') {
        root ??= event.name
        // Terms for kinds of users or countries say nothing about what may be done.
        field = isUsage(event) ? event.name : ''
        if (event.name === 'content') content = (event.attributes.get('url') ?? '/').trim().slice(0, 2_048)
        if (event.name === 'license')
          licence = { content, permits: [], prohibits: [], payments: [], standard: undefined }
        if (event.name === 'payment')
          licence?.payments.push({
            type: event.attributes.get('type') ?? 'free',
            amount: undefined,
            currency: undefined,
          })
        if (event.name === 'amount') {
          const payment = licence?.payments.at(-1)
          if (payment) payment.currency = event.attributes.get('currency')
        }
      } else if (event.kind === 'text') {
        const value = event.text.trim().slice(0, 500)
        if (!licence || value === '') continue
        if (field === 'permits') licence.permits.push(...value.split(/[\s,]+/))
        else if (field === 'prohibits') licence.prohibits.push(...value.split(/[\s,]+/))
        else if (field === 'standard') licence.standard = value
        else if (field === 'amount') {
          const payment = licence.payments.at(-1)
          if (payment) payment.amount = value
        }
      } else {
        field = ''
        if (event.name === 'license' && licence) {
          terms.push(licence)
          licence = undefined
          if (terms.length >= 100) break
        }
      }
    }
  } catch (error) {
    if (!(error instanceof XmlRefused)) throw error
    return { status: 'malformed', detail: error.message }
  }
  if (root !== 'rsl') return { status: 'malformed', detail: 'the root element is not rsl' }
  return terms.length === 0 ? { status: 'malformed', detail: 'no license element' } : { status: 'ok', terms }
}

const isUsage = (event: { name: string; attributes: ReadonlyMap<string, string> }) =>
  (event.name !== 'permits' && event.name !== 'prohibits') || (event.attributes.get('type') ?? 'usage') === 'usage'
