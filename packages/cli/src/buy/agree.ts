import type { AssayError, Quote } from '@assay/sdk'
import { toJson } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { networkTitle } from './describe.ts'
import { quoteDocument } from './documents.ts'

export type AgreeOptions = { yes?: boolean; demo?: boolean; dryRun?: boolean; json?: boolean }

/** Asked by the client before it signs. Asks for confirmation at a terminal, except with --yes or --demo. */
export function agreeTo(terminal: Terminal, options: AgreeOptions): (quote: Quote) => Promise<boolean> {
  return async ({ priceUsd, network, payTo }) => {
    if (options.dryRun) return false
    const what = `${priceUsd} USDC on ${networkTitle(network)} to ${payTo}`
    if (!options.yes && !options.demo && terminal.interactive) return terminal.confirm(`Pay ${what}?`)
    terminal.say(`paying ${what}`)
    return true
  }
}

/** A dry run ends with the price where another run would have signed. */
export async function unlessDryRun<T>(
  terminal: Terminal,
  options: AgreeOptions,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    const { code, details } = error as Partial<AssayError>
    const quote = code === 'not_confirmed' ? (details?.quote as Quote | undefined) : undefined
    if (!options.dryRun || quote === undefined) throw error
    const text = `${quote.priceUsd} USDC on ${networkTitle(quote.network)} to ${quote.payTo}\nnothing was signed (--dry-run)`
    terminal.out(options.json ? toJson({ quote: quoteDocument(quote) }) : text)
    return undefined
  }
}
