import { readFile, stat } from 'node:fs/promises'
import type { CommandContext } from '../command-context.ts'
import { exitCodes, usageError } from '../exit-codes.ts'
import { explainMissing } from '../load-node.ts'
import type { Operator } from '../operator/connect.ts'
import { printResult } from '../output.ts'
import { type AddOptions, budgetOf } from './command.ts'

type SourcesShop = typeof import('@assay/node/shops/sources')
type Seed = ReturnType<SourcesShop['readSeedLines']>['seeds'][number]
type Imported = Awaited<ReturnType<ReturnType<SourcesShop['openCorpus']>['importArchive']>>

const loadSources = (): Promise<SourcesShop> => import('@assay/node/shops/sources').catch(explainMissing)

const corpusOf = (shop: SourcesShop, { node, database, config }: Operator) =>
  shop.openCorpus({
    database,
    clock: node.systemClock,
    ownUrls: [config.baseUrl, config.apiUrl].filter((url) => url !== undefined),
    demoHosts: config.demoHosts,
  })

const isFile = (path: string) =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  )

const isArchive = (path: string) => /\.warc(?:\.gz)?$/i.test(path)

export async function addAll(
  context: CommandContext,
  operator: Operator,
  what: readonly string[],
  options: AddOptions,
): Promise<void> {
  const { terminal } = context
  if (options.as !== undefined && options.as !== 'listing' && options.as !== 'page')
    throw usageError('--as must be listing or page')
  const budget = budgetOf(options)
  const shop = await loadSources()
  const corpus = corpusOf(shop, operator)
  const { seeds, archives, skippedLines } = await sortInput(shop, what, options.as)
  const added = await corpus.add(seeds, budget, operator.actor)
  const imported: ({ file: string } & Imported)[] = []
  for (const file of archives) {
    let shown = 0
    const result = await corpus
      .importArchive(file, budget, ({ pages, answers }) => {
        if (pages - shown < 500) return
        shown = pages
        terminal.say(`${file}: ${pages} pages of ${answers} answers`)
      })
      .catch((error: unknown) => {
        if (error instanceof RangeError) throw usageError(`${file}: ${error.message}`)
        throw error
      })
    imported.push({ file, ...result })
  }
  const refused = added.domains.filter(({ state }) => state === 'skipped')
  printResult(terminal, options.json, { ...added, skipped_lines: skippedLines, archives: imported }, () =>
    [
      ...added.domains.map(({ domain, state, pages, listings, problem }) =>
        problem === null
          ? `${domain}  ${state}, ${pages} pages and ${listings} listings named`
          : `${domain}  skipped: ${problem}`,
      ),
      ...(skippedLines > 0 ? [`${skippedLines} lines skipped: neither a domain nor an address`] : []),
      ...imported.map(
        ({ file, pages, answers, domains, skipped }) =>
          `${file}  ${pages} pages of ${domains} domains from ${answers} answers; skipped ${Object.entries(skipped)
            .map(([why, count]) => `${count} ${why.replaceAll('_', ' ')}`)
            .join(', ')}`,
      ),
      operator.stopped
        ? 'The node is stopped: it reads them when it runs.'
        : 'The node reads them now; `assay corpus status` shows how far it is.',
    ].join('\n'),
  )
  if (added.domains.length > 0 && refused.length === added.domains.length && archives.length === 0)
    context.endWith(exitCodes.failed)
}

async function sortInput(shop: SourcesShop, what: readonly string[], as: 'listing' | 'page' | undefined) {
  const seeds: Seed[] = []
  const archives: string[] = []
  let skippedLines = 0
  for (const one of what) {
    if (await isFile(one)) {
      if (isArchive(one)) archives.push(one)
      else {
        const list = shop.readSeedLines(await readFile(one, 'utf8'))
        seeds.push(...list.seeds)
        skippedLines += list.skipped
      }
      continue
    }
    const seed = shop.readSeed(one, as)
    if (!seed) throw usageError(`${one} is neither a file, a domain nor an http(s) address`)
    seeds.push(seed)
  }
  return { seeds, archives, skippedLines }
}

export async function showStatus(
  { terminal }: CommandContext,
  operator: Operator,
  options: { json?: boolean },
): Promise<void> {
  const status = await corpusOf(await loadSources(), operator).status()
  const { domains, pages } = status
  printResult(terminal, options.json, status, () =>
    [
      `domains  ${domains.known} known, ${domains.visited} visited, ${domains.being_read} being read, ${domains.waiting} waiting, ${domains.unreadable} without a readable page`,
      `pages    ${pages.known} known, ${pages.read} read, ${pages.due} due, ${status.last_hour} visited in the last hour`,
      ...Object.entries(pages.by_origin).map(([origin, count]) => `         ${count} found by ${origin}`),
      ...status.problems.map(
        ({ problem, pages: count, example }) => `         ${count} not read: ${problem} (${example})`,
      ),
    ].join('\n'),
  )
}
