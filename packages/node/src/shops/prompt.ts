import { unpaidCallText } from '@assay/protocol/tool-texts'

/** A job that callers come for, as an order of calls. A shop brings its own. */
export type Prompt = {
  name: string
  title: string
  description: string
  arguments: { name: string; description: string; required: boolean }[]
  /** Listed only where all of them are offered. */
  tools: readonly string[]
  write(given: Readonly<Record<string, string>>): string
}

export const promptPaying = `${unpaidCallText} Tell the user the price before you pay, and send the same payment on every retry of the same call.`
