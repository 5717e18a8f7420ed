import { unpaidCallText } from '@assay/protocol/tool-texts'

export type Prompt = {
  name: string
  title: string
  description: string
  arguments: { name: string; description: string; required: boolean }[]
  /** Listed only where all of them are offered. */
  tools: readonly string[]
  write(given: Readonly<Record<string, string>>): string
}

const paying = `${unpaidCallText} Tell the user the price before you pay, and send the same payment on every retry of the same call.`

/** The three jobs that most callers come for, as an order of calls. */
const all: readonly Prompt[] = [
  {
    name: 'check_token',
    title: 'Find out who controls a token',
    description: 'Check a B20 token before it is bought or held, and buy the full report if the check leaves doubts.',
    arguments: [{ name: 'address', description: 'The address of the token, 0x and 40 hex digits', required: true }],
    tools: ['tokens_check', 'tokens_report'],
    write: ({ address }) =>
      `Who controls the token ${address}, and what could they do to a holder?\n\n` +
      '1. Call tokens_check (free). State the verdict, each power with its holder, and each flag. A fact that is UNKNOWN ' +
      'is not a good sign: say what could not be read.\n' +
      `2. If the verdict is not LOCKED, or the user has much at stake, offer tokens_report. ${paying}\n` +
      '3. Name the block that the answer was read at.',
  },
  {
    name: 'cite_sources',
    title: 'Find sources for a claim and cite them',
    description: 'Search ranked, citable sources, and have a citation stamped so that its creator is paid.',
    arguments: [
      { name: 'claim', description: 'What needs a source, in a sentence', required: true },
      { name: 'agent_wallet', description: 'The wallet that cites; needed to stamp', required: false },
    ],
    tools: ['citations_match', 'cite_attest'],
    write: ({ claim, agent_wallet: wallet }) =>
      `Find sources for this claim: ${claim}\n\n` +
      `1. Call citations_match with a query of a few words. ${paying}\n` +
      '2. Compare the passages with the claim. Keep those that support or contradict it, with their URL and score.\n' +
      (wallet
        ? `3. For each source that you use, offer cite_attest with source_url and agent_wallet ${wallet}: it stamps the citation and pays the creator.\n`
        : '3. If the user wants citations stamped, ask for the wallet that cites; cite_attest stamps them and pays the creator.\n') +
      '4. Answer with the sources. Say so where none was found.',
  },
  {
    name: 'scan_squeezes',
    title: 'Scan equities for short squeezes',
    description: 'Look at the free delayed feed first, and buy the live one for what is worth it.',
    arguments: [
      { name: 'symbols', description: 'Symbols to look at, separated by commas; default: all', required: false },
    ],
    tools: ['matrix_index', 'matrix_delayed', 'matrix_live'],
    write: ({ symbols }) =>
      `Which ${symbols ? `of ${symbols}` : 'equities'} show signs of a short squeeze?\n\n` +
      '1. Call matrix_index (free): which feeds there are, how old and how complete each is.\n' +
      '2. Call matrix_delayed (free) for the feed that fits, and name the strongest rows with their figures and as-of times.\n' +
      `3. Offer matrix_live for what the user wants to act on. ${paying}\n` +
      '4. Say what is missing from the data. Figures marked synthetic are not real. This is not advice to trade.',
  },
]

export function promptsFor(tools: ReadonlySet<string>): Prompt[] {
  return all.filter((prompt) => prompt.tools.every((name) => tools.has(name)))
}
