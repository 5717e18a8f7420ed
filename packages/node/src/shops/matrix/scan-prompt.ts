import { type Prompt, promptPaying } from '../prompt.ts'

/** From the free delayed feeds to a live one. */
export const scanPrompt: Prompt = {
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
    `3. Offer matrix_live for what the user wants to act on. ${promptPaying}\n` +
    '4. Say what is missing from the data. Figures marked synthetic are not real. This is not advice to trade.',
}
