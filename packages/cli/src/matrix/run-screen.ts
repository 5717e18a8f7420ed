import { type AnswerOf, askSigned } from '@assay/sdk'
import { chooseWallet } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { freeClient } from '../free-client.ts'
import { printResult, table } from '../output.ts'
import type { ScreenOptions } from './screen-command.ts'

async function signer({ terminal }: CommandContext, options: ScreenOptions) {
  const { account } = await chooseWallet(options.url, options, terminal)
  return { node: options.url, account }
}

export async function saveScreen(context: CommandContext, name: string, options: ScreenOptions): Promise<void> {
  const { feed, sort, filter, minScore, limit, symbols } = options
  const body = {
    name,
    ...(feed === undefined ? {} : { feed: feed as NonNullable<Screen['feed']> }),
    ...(sort === undefined ? {} : { sort }),
    ...(filter === undefined ? {} : { filter }),
    ...(minScore === undefined ? {} : { min_score: minScore }),
    ...(limit === undefined ? {} : { limit }),
    ...(symbols === undefined ? {} : { symbols: symbols.split(',') }),
  }
  const saved = await askSigned(freeClient(), 'matrix.screens.save', { body }, await signer(context, options))
  printResult(context.terminal, options.json, saved, () => `${saved.id}  ${saved.name}: ${queryText(saved)}`)
}

export async function listScreens(context: CommandContext, options: ScreenOptions): Promise<void> {
  const own = await askSigned(freeClient(), 'matrix.screens.list', {}, await signer(context, options))
  printResult(context.terminal, options.json, own, () =>
    own.data.length === 0
      ? 'no screens'
      : table(own.data, [
          { title: 'id', of: (row) => row.id },
          { title: 'name', of: (row) => row.name },
          { title: 'feed', of: (row) => row.feed ?? 'any' },
          { title: 'shows', of: queryText },
        ]),
  )
}

export async function removeScreen(context: CommandContext, id: string, options: ScreenOptions): Promise<void> {
  const removed = await askSigned(
    freeClient(),
    'matrix.screens.remove',
    { body: { id } },
    await signer(context, options),
  )
  printResult(context.terminal, options.json, removed, () => `removed ${removed.removed}`)
}

type Screen = AnswerOf<'matrix.screens.list'>['data'][number]

const queryText = ({ sort, filter, min_score, limit, symbols }: Screen): string =>
  [
    sort === null ? '' : `by ${sort}`,
    filter === null ? '' : `where ${filter}`,
    min_score === null ? '' : `from ${min_score}`,
    limit === null ? '' : `${limit} rows`,
    symbols.length === 0 ? '' : symbols.join(','),
  ]
    .filter(Boolean)
    .join(', ') || 'everything'
