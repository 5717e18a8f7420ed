import { readFile } from 'node:fs/promises'
import { type AddCommand, jsonOption } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { withOperator } from '../operator/connect.ts'
import { printResult } from '../output.ts'

const fileOf = (path: string) =>
  readFile(path, 'utf8').catch(() => {
    throw usageError(`cannot read ${path}`)
  })

/** The operator's side of CiteScore: what it is compared with, and what it may rest on. */
export const addScore: AddCommand = (program, { terminal }) => {
  const score = program.command('score').summary('evaluate CiteScore, load rank lists and trusted agents')
  score
    .command('evaluate')
    .description('Spearman and AUC of the scores of this node against ratings they never read.')
    .requiredOption('--labels <file>', 'CSV with domain,rating; a higher rating is better')
    .option('--good-from <rating>', 'ratings from here on count as good; the median unless told')
    .option(...jsonOption)
    .action(async (options: { labels: string; goodFrom?: string; json?: boolean }) => {
      const text = await fileOf(options.labels)
      const goodFrom = options.goodFrom === undefined ? undefined : Number(options.goodFrom)
      if (goodFrom !== undefined && !Number.isFinite(goodFrom)) throw usageError('--good-from must be a number')
      const result = await withOperator(terminal, ({ node, database }) => node.evaluateScores(database, text, goodFrom))
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
      'Loads an outside rank list (CSV rank,domain or a Common Crawl domain-ranks file) as one input of authority.',
    )
    .argument('<file>')
    .requiredOption('--name <text>', 'what list it is')
    .requiredOption('--as-of <date>', 'the day it is about')
    .requiredOption('--licence <text>', 'under which it may be used')
    .option(...jsonOption)
    .action(async (path: string, options: { name: string; asOf: string; licence: string; json?: boolean }) => {
      const text = await fileOf(path)
      const loaded = await withOperator(terminal, ({ node, database, actor }) =>
        node.loadRanks(database, { text, name: options.name, asOf: options.asOf, licence: options.licence, actor }),
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
    .description('Replaces the list of agents that are trusted without a bond, one wallet a line.')
    .argument('<file>')
    .option(...jsonOption)
    .action(async (path: string, options: { json?: boolean }) => {
      const text = await fileOf(path)
      const loaded = await withOperator(terminal, ({ node, database, actor }) =>
        node.loadSeeds(database, { text, actor, nowMs: node.systemClock.nowMs() }),
      )
      printResult(
        terminal,
        options.json,
        loaded,
        () => `${loaded.seeds} agents are seeds now, ${loaded.skipped} lines skipped`,
      )
    })
}
