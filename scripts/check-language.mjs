// Words that a newcomer has to guess. One term for one thing: the glossary in CONTRIBUTING.md has the terms, this table
// the words that they replace. Names in camelCase are read as words, so `forgetIdle` is found by `forget`.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** Pattern, what to write instead, and the uses that are the field's own. */
const table = [
  [/\btold\b/, 'reported, notified, asked; "told apart" is distinguished'],
  [/\bwhoever\b/, 'the caller, anyone who'],
  [/\banew\b/, 'again'],
  [/\ba moment ago\b/, 'recently, just'],
  [/\bthis very\b/, 'this, the same'],
  [
    /\bof (its|their|our|your|my) own(?=$|[^\w\s]|\s*$| (and|or|in|on|at|for|with|without|that|which|where|when|while|before|after|until|as|but|by|to|from|is|are|was|were|has|have|can|may|so|here|under)\b)/,
    'separate, its own …',
    /\b(one|none|some) of (its|their|our|your|my) own\b/,
  ],
  [/\b(stands?|stood)\b/, 'is, remains, applies', /\bstands? for\b|\bstand[- ]?ins?\b|\bstands? (up|trial)\b/],
  [
    /\b(lies?|lay) (in|on|at|below|above|within|behind|between|before|after|outside|inside|under|there|here|beside|open)\b/,
    'is',
  ],
  [/\bmend(s|ed|ing)?\b/, 'repair, fix'],
  [/\belsewhere\b/, 'in another place: say which (another process, another route)'],
  [/\bdoors?\b/, 'HTTP server, listener'],
  [/\bgrounds?\b/, 'infrastructure', /\bon (the )?grounds? (of|that)\b|\bground truth\b/],
  [/\blanes?\b/, 'sender (a wallet that sends transactions)'],
  [/\bkeepers?\b/, 'store, cache'],
  [/\bgoods\b/, 'products, what is sold'],
  [/\bparked\b/, 'deferred, set aside'],
  [/\bpurses?\b/, 'balance'],
  [/\bdesks?\b/, 'harness'],
  [/\bhouses?\b/, 'harness, cluster', /\bclearing house\b/],
  [/\bstanding\b/, 'status, fixed'],
  [/\bforget(s|ting)?\b/, 'delete, evict, expire'],
  [/\bfold(s|ed|ing)?\b/, 'aggregate, roll up', /\bcase[- ]fold(s|ed|ing)?\b|\bfold(s|ed|ing)?[- ]case\b/],
  [/\bjudg(e|es|ed|ing|ement)\b/, 'decide, check, evaluate'],
  [
    /\b(a|the|each|every|one|last|next|first|this|another|per|of|between|no) looks?\b/,
    'check, read, poll',
    /\blooks? ?-?(up|like|ahead|back)\b/,
  ],
  [
    /(?<!['’]s )\bbook(ed|ing)?\b|\b(it|that|which|and|who|run|job|node|till) books (?!and\b|of\b|are\b|is\b)/,
    'post, record',
    /\border book\b|\bbook[- ]keeping\b/,
  ],
  [/\b(taken|take|takes|took) (back|out|for a|for an|for the|up)\b/, 'revoked, removed, treated as', /\bnpm\b/],
  [/^\W*gives (?!up)|(?<=[.;:] )Gives (?!up)/, 'returns'],
]

/** Words that are fine in a sentence and say nothing as a name. Read as they are written. */
const names = [
  [/\bnote(?!Key|Of\b|Line|Bytes|Extension|Chars)[A-Z]\w*(?=\()/, 'record…, save…'],
  [/\busual[A-Z]\w*|\b[a-z]\w*Usual\b/, 'default…'],
  [/\bleast[A-Z]\w*|\b(?!at)[a-z]\w*Least\b/, 'min…'],
  [/\bgive(?!Up)[A-Z]\w*|\b[gG]iven(?!Up)[A-Z]\w*/, 'return…, refund…, the noun of what it is'],
  [/\bcarry[A-Z]\w*/, 'submit…, send…'],
  [/\b(choose)?Way[A-Z]\w*|\bchooseWay\b|\b[uU]nderWay\w*/, 'method, in progress'],
  [/\b\w*[a-z]Looks?\b|\blooks?(?!Up|Back|Ahead|Like|s\b)[A-Z]\w*/, 'check…, poll…, read…'],
  [/\btaken[A-Z]\w*/, 'revoked…, removed…'],
]

/** Others work there now; their words are next. */
const notYet = [
  'bench/',
  'conformance/',
  'deploy/',
  'packages/conformance/',
  'packages/node/src/shops/options/',
  'packages/till/src/jobs/',
  'rehearse/',
]
const isText = /\.(ts|tsx|mts|mjs|md|py|sql|sol|css|yml)$/
const isNot = /^(scripts\/check-language\.mjs|test\/check-language\.test\.ts|CHANGELOG\.md)$|leases?[./-]/

const asWords = (text) => text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()

/** Each guessed word of a line, with what to write instead. */
export function guessedWords(line) {
  const spaced = asWords(line)
  const found = []
  const add = (text, [pattern, instead, allowed]) => {
    const rest = allowed === undefined ? text : text.replace(new RegExp(allowed, 'g'), '')
    const [word] = pattern.exec(rest) ?? []
    if (word !== undefined) found.push({ word: word.trim(), instead })
  }
  for (const row of table) add(spaced, row)
  for (const row of names) add(line, row)
  return found
}

/** Every guessed word in the names and lines of these files. */
function checkLanguage(files) {
  return files.flatMap((file) => {
    const named = guessedWords(file.replace(/[/-]/g, ' ')).map((one) => ({ ...one, at: file }))
    const lines = readFileSync(join(root, file), 'utf8').split('\n')
    return [
      ...named,
      ...lines.flatMap((line, index) => guessedWords(line).map((one) => ({ ...one, at: `${file}:${index + 1}` }))),
    ]
  })
}

function main() {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
  const files = tracked.filter(
    (file) => isText.test(file) && !isNot.test(file) && !notYet.some((folder) => file.startsWith(folder)),
  )
  const problems = checkLanguage(files)
  if (process.argv.includes('--count')) {
    const counts = new Map()
    for (const { word } of problems) counts.set(word, (counts.get(word) ?? 0) + 1)
    for (const [word, count] of [...counts].sort(([, a], [, b]) => b - a)) process.stdout.write(`${count}  ${word}\n`)
  } else for (const { at, word, instead } of problems) process.stdout.write(`${at}: "${word}": write ${instead}\n`)
  process.stdout.write(`${problems.length} words to guess in ${files.length} files\n`)
  process.exitCode = problems.length > 0 ? 1 : 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
