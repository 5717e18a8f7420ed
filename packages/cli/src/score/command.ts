import { readFile } from 'node:fs/promises'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { explainMissing } from '../load-node.ts'
import { type Operator, withOperator } from '../operator/connect.ts'
import { printResult } from '../output.ts'
import { dayText } from '../read-option.ts'
import type { Terminal } from '../terminal.ts'

type SourcesShop = typeof import('@assay/node/shops/sources')

const withSources = <T>(terminal: Terminal, work: (shop: SourcesShop, operator: Operator) => Promise<T>) =>
  withOperator(terminal, async (operator) =>
    work(await import('@assay/node/shops/sources').catch(explainMissing), operator),
  )

const fileOf = (path: string) =>
  readFile(path, 'utf8').catch(() => {
    throw usageError(`cannot read ${path}`)
  })

/** The operator's side of CiteScore: what it is compared with, and what it may rest on. */
export const addScore: AddCommand = (program, { terminal }) => {
  const score = program.command('score').summary('Evaluate CiteScore, load rank lists and trusted agents')
  score
    .command('evaluate')
    .description('Compare the scores of this node with independent ratings (Spearman, AUC).')
    .requiredOption('--labels <file>', 'CSV with domain,rating; a higher rating is better')
    .option('--good-from <rating>', 'ratings from this value count as good; default: the median')
    .option(...jsonOption)
    .action(async (options: { labels: string; goodFrom?: string; json?: boolean }) => {
      const text = await fileOf(options.labels)
      const goodFrom = options.goodFrom === undefined ? undefined : Number(options.goodFrom)
      if (goodFrom !== undefined && !Number.isFinite(goodFrom)) throw usageError('--good-from must be a number')
      const result = await withSources(terminal, (shop, { database }) => shop.evaluateScores(database, text, goodFrom))
      if (result.labels === 0) throw usageError(`${options.labels} has no ratings`, 'Lines such as example.com,4.')
      printResult(terminal, options.json, result, () =>
        [
          `labels     ${result.labels} read, ${result.malformed} malformed, ${result.matched} matched with scored sources`,
          ...result.parts.map(
            (part) =>
              `${part.name.padEnd(9)}  n ${String(part.count).padStart(6)}  Spearman ${part.spearman === null ? 'n/a' : part.spearman.toFixed(3)}  AUC ${part.auc === null ? 'n/a' : part.auc.toFixed(3)}`,
          ),
          'The halves are split by a hash of the registrable domain: tune on one, report the other.',
        ].join('\n'),
      )
    })
  score
    .command('ranks')
    .description(
      'Load an external rank list (CSV rank,domain or a Common Crawl domain-ranks file) as one input of authority.',
    )
    .argument('<file>')
    .requiredOption('--name <text>', 'name of the list')
    .requiredOption('--as-of <date>', 'date of the list', dayText)
    .requiredOption('--licence <text>', 'licence of the list')
    .option(...jsonOption)
    .action(async (path: string, options: { name: string; asOf: string; licence: string; json?: boolean }) => {
      const text = await fileOf(path)
      if (!/^[1-9]\d*[,\t]/m.test(text))
        throw usageError(`${path} is no rank list`, 'Lines such as 1,example.com, or a Common Crawl domain-ranks file.')
      const loaded = await withSources(terminal, (shop, { database, actor }) =>
        shop.loadRanks(database, {
          text,
          name: options.name,
          asOf: options.asOf,
          licence: options.licence,
          actor,
        }),
      )
      printResult(
        terminal,
        options.json,
        loaded,
        () => `${loaded.entries} domains loaded, ${loaded.skipped} lines skipped; scores follow within a minute`,
      )
    })
  score
    .command('seeds')
    .description('Replace the list of agents trusted without a bond, one wallet per line.')
    .argument('<file>')
    .option(...jsonOption)
    .action(async (path: string, options: { json?: boolean }) => {
      const text = await fileOf(path)
      // An empty list ends all trust; a file that is no list is taken for none.
      if (text.trim() !== '' && !/^\s*0x[0-9a-fA-F]{40}\s*$/m.test(text))
        throw usageError(`${path} has no wallet in any line`, 'One address a line: 0x and 40 hex digits.')
      const loaded = await withSources(terminal, (shop, { node, database, actor }) =>
        shop.loadSeeds(database, { text, actor, nowMs: node.systemClock.nowMs() }),
      )
      printResult(
        terminal,
        options.json,
        loaded,
        () => `${loaded.seeds} agents are seeds now, ${loaded.skipped} lines skipped`,
      )
    })
}
