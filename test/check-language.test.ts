import { expect, test } from 'vitest'
import { findGuessedWords } from '../scripts/check-language.mjs'

test.each([
  ['/** Callers are told to come back. */', 'told'],
  ["throw new Error('a name stands twice')", 'stands'],
  ['export function forgetIdle(): void {', 'forget'],
  ['export type SnapshotKeeper = {', 'keeper'],
  ['await noteRestore(database)', 'noteRestore'],
  ['const usualLimit = 5', 'usualLimit'],
  ['const handlerMsUsual = 15_000', 'handlerMsUsual'],
  ["test('a worker has a database of its own', () => {", 'of its own'],
  ['/** Gives the wallet that signed. */', '/** gives'],
  ['-- What settled a payment is booked with it.', 'booked'],
  ['// Not the keys of recently.', 'of recently'],
  ['/** In its terms, for who paid by it. */', 'for who'],
  ["shopPort<Referrers>('sale_bringers')", 'bringers'],
  ['const rule = tdmVoice(url)', 'voice'],
  ['let restUntilMs = 0', 'rest until ms'],
  ['A washed citation counts for nothing.', 'washed'],
  ['The amount lies outside what the offer states.', 'lies outside'],
  ['/** One look at a log. */', 'one look'],
  ['packages node src http front door.ts', 'door'],
  ['alter table job add forget_after interval', 'forget'],
  ['// Its secret is forgotten.', 'forgotten'],
  ['weights = { bend_view: 4 }', 'bend'],
  ['  /** Of the custody wallets. */', 'Of the'],
  [' * So long after the expiry it has failed.', 'So long'],
  ['/** That of the others. */', 'That of'],
  ['const taken = await takeBackLines(tx, payment)', 'take back'],
])('%s has to be guessed', (line, word) => {
  expect(findGuessedWords(line)).toMatchObject([{ word }])
})

test.each([
  'One star stands for any characters.',
  '/** Keys of the custody wallets. So many are rare. */',
  'What it looks like, and how to look it up.',
  'It is its own cluster, and none of its own pages counts.',
  'const atLeast = 2',
  'const key = noteKey(name, 1, x)',
  'Before it gives up, it waits in the order book.',
  'A tip rose 600,000-fold.',
])('%s is plain', (line) => {
  expect(findGuessedWords(line)).toEqual([])
})
