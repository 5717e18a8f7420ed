// Words that a newcomer has to guess. One term for one thing: the glossary in CONTRIBUTING.md has the terms, this table
// has the words that they replace. Names in camelCase and snake_case are read as words, so `forgetIdle` and `forget_idle`
// are found by `forget`.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const afterOwn =
  'and|or|in|on|at|for|with|without|that|which|where|when|while|before|after|until|as|but|by|to|from|is|are|was|were|has|have|can|may|so|here|under'
const isMetaphor = 'a metaphor of this code base'
const isVague = 'says neither who nor how'
const isArchaic = 'reads like a translation'

/** Pattern, what to write instead, why, and the uses that are the field's own. */
const sentences = [
  [/\btold\b/, 'reported, notified, asked; "told apart" is distinguished', isVague],
  [/\bwhoever\b/, 'the caller, anyone who', isArchaic],
  [/\banew\b/, 'again', isArchaic],
  [/\ba moment ago\b/, 'recently', isArchaic],
  [/\bof recently\b/, 'the last, the old, of the last hour', 'recently is an adverb'],
  [/\b(to|for|from|with) who\b/, 'to the caller that, to the wallet that', isArchaic],
  [/\bthis very\b/, 'this, the same', isArchaic],
  [
    new RegExp(String.raw`\bof (its|their|our|your|my) own(?=\s*$|[^\w\s]| (${afterOwn})\b)`),
    'its own …, a separate …',
    isArchaic,
    /\b(one|none|some) of (its|their|our|your|my) own\b/g,
  ],
  [/\b(stands?|stood)\b/, 'is, remains, is valid', isVague, /\bstand(s|ing)? for\b|\bstand[- ]?ins?\b/g],
  [/\bstanding\b/, 'status, fixed, membership', isVague, /\bstanding for\b/g],
  [
    /\b(lies?|lay) (in|on|at|below|above|within|behind|between|before|after|outside|inside|under|there|here|beside)\b/,
    'is',
    isArchaic,
    // A provider that lies says something false.
    /\blies (in the same way|on purpose)\b|\bprovider that lies\b/g,
  ],
  [/bringers?/, 'referrer, submitter', isMetaphor],
  [/\bwash(ed|ing)\b/, 'wash-traded, wash trading', isMetaphor],
  [/\bvoices?\b/, 'weight, vote, rule', isMetaphor],
  [/\bglances?\b/, 'header summary', isMetaphor],
  [/\bfarewells?\b/, 'closing event', isMetaphor],
  [/\bbreath(s|es?)?\b/, 'yield to the event loop, pulse, same transaction', isMetaphor],
  [/\bearnest\b/, 'production, products', isArchaic],
  [/\brest until ms\b|\brests until\b|\bresting\b/, 'paused until, waits until', isMetaphor],
  [/\b(bends?|bending|bent|straighten(s|ed)?)\b/, 'alter, fault, repair', isMetaphor],
  [/\b(leisure(ly)?|temptation|mortal|moods?|moody)\b/, 'slow, crashable, fault', isMetaphor],
  [/\bcomes? to rest\b/, 'is idle', isMetaphor],
  [/\bmend(s|ed|ing)?\b/, 'repair, fix', isArchaic],
  [/\bdoors?\b/, 'HTTP app, listener', isMetaphor],
  [/\bgrounds?\b/, 'infrastructure', isMetaphor],
  [/\blanes?\b/, 'wallet, queue, class', isMetaphor],
  [/\bkeepers?\b/, 'cache, store', isMetaphor],
  [/\bgoods\b/, 'products', isMetaphor],
  [/\bpurses?\b/, 'balance', isMetaphor],
  [/\bhouses?\b/, 'harness, cluster', isMetaphor],
  [/\bforg(et(s|ting)?|ot(ten)?)\b/, 'delete, evict, expire, lose', isMetaphor],
  [/\bfold(s|ed|ing)?\b/, 'aggregate, roll up, normalize', isVague, /\d-fold\b/g],
  [/\bjudg(e[sd]?|ing|ements?)\b/, 'decide, check, evaluate', isMetaphor],
  [
    /\b(a|the|each|every|one|last|next|first|this|another|per|between|no) looks?\b/,
    'check, read, poll',
    isVague,
    /\blook(s|ed)?[- ]?(up|like|ahead|back)\b/g,
  ],
  [/\bbooked\b|\bbookings?\b|\b(to|both|may|must|cannot|never) book\b/, 'post', 'the ledger has postings'],
  [/\b(take|takes|taken|took) (back|out|up|for an?|for the)\b/, 'revoke, reverse, remove, resume, treat as', isVague],
  [/(^|[.;:] )\W*gives (?!up\b)/, 'returns', isVague],
]

/** Words that are fine in a sentence and say nothing as a name. Read as they are written. */
const names = [
  [/\bnote(?!Key|Of|Line|Bytes|Chars)[A-Z]\w*(?=\()/, 'record…, save…', isVague],
  [/\busual[A-Z]\w*|\b[a-z]\w*Usual\b/, 'default…', 'the field says default'],
  [/\bleast[A-Z]\w*|\b(?!at)[a-z]\w*Least\b/, 'min…', 'the field says min'],
  [/\bgive(?!Up)[A-Z]\w*|\b[gG]iven(?!Up)[A-Z]\w*/, 'return…, refund…, the noun of what it is', isVague],
  [/\bcarry[A-Z]\w*/, 'submit…, execute…', isVague],
  [/\b(choose)?Way[A-Z]\w*|\bchooseWay\b|\b[uU]nderWay\w*/, 'payment method, in progress', isVague],
  [/\b[a-z]\w*Looks?\b|\blooks?(?!Up|Back|Ahead|Like)[A-Z]\w*/, 'check…, poll…, read…', isVague],
  [/\btaken[A-Z]\w*/, 'revoked…, reversed…, removed…', isVague],
  [/\b[a-z]\w*Elsewhere\b/, '…ByPeer, …ToOthers', isVague],
  // An exchange has an order book.
  [/\bbook[A-Z]\w*|\b[a-z]\w*(?<!Order)Book\b/, 'post…; registry, table', isVague],
]

/** Doc comments that begin with a clause without a subject, so that the reader has to add what is meant. */
const openings = [
  [
    /(?<=^\s*(\/\*\*|\*) )(So long|So many|Of the|Off the|That of|What of)\b/,
    'a sentence with its noun: "Keys of the …", "How many …"',
    'has no subject',
  ],
]

/** Not read: sources whose text is part of compiled code, this list and its test, and the past. */
const notRead = [
  'clients/python/assay_verify/keccak.py',
  'contracts/',
  'scripts/check-language.mjs',
  'test/check-language.test.ts',
  'CHANGELOG.md',
]
const isText = /\.(ts|tsx|mts|mjs|md|py|sql|css|yml)$/

const asWords = (text) => text.replace(/([a-z0-9])([A-Z])|_/g, '$1 $2').toLowerCase()
const anyOf = (rows) => new RegExp(rows.map(([pattern]) => pattern.source).join('|'), 'm')
const anySentence = anyOf(sentences)
const anyHost = anyOf([...names, ...openings])

/** Each guessed word of a line, with what to write instead and why. */
export function findGuessedWords(line) {
  const found = []
  const search = (text, [pattern, instead, why, allowed]) => {
    const [word] = pattern.exec(allowed === undefined ? text : text.replace(allowed, '')) ?? []
    if (word !== undefined) found.push({ word: word.trim(), instead, why })
  }
  const words = asWords(line)
  if (anySentence.test(words)) for (const row of sentences) search(words, row)
  if (anyHost.test(line)) for (const row of [...names, ...openings]) search(line, row)
  return found
}

/** Every guessed word in the name and the lines of a file. */
function checkFile(file) {
  const named = findGuessedWords(file.replace(/[/.-]/g, ' ')).map((one) => ({ ...one, at: file }))
  const text = readFileSync(join(root, file), 'utf8')
  if (!anySentence.test(asWords(text)) && !anyHost.test(text)) return named
  const inLine = (line, index) => findGuessedWords(line).map((one) => ({ ...one, at: `${file}:${index + 1}` }))
  return [...named, ...text.split('\n').flatMap(inLine)]
}

function main() {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
  const files = tracked.filter((file) => isText.test(file) && !notRead.some((path) => file.startsWith(path)))
  const problems = files.flatMap(checkFile)
  for (const { at, word, instead, why } of problems) process.stdout.write(`${at}: "${word}" ${why}; write ${instead}\n`)
  if (problems.length > 0) process.stdout.write(`${problems.length} words to guess in ${files.length} files\n`)
  process.exitCode = problems.length > 0 ? 1 : 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
