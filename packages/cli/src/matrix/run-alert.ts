import { askSigned, createAssayClient } from '@assay/sdk'
import { chooseWallet } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { printResult, table } from '../output.ts'
import type { AlertOptions } from './alert-command.ts'

const topic = 'matrix.alert'

async function open({ terminal }: CommandContext, options: AlertOptions) {
  if (!URL.canParse(options.url)) throw usageError(`--url: not a URL: ${options.url}`)
  const { account } = await chooseWallet(options.url, options, terminal)
  const client = createAssayClient({ account, baseUrl: options.url, maxPerCallUsd: '0' })
  return { client, signer: { node: options.url, account } }
}

/** Names the endpoint and watches the rule; an endpoint that is not proven yet gets its challenge. */
export async function addRule(context: CommandContext, rule: string, options: AlertOptions): Promise<void> {
  const target = options.webhook ?? options.email
  if (target === undefined || (options.webhook !== undefined && options.email !== undefined))
    throw usageError('one of --webhook and --email is needed')
  const { client, signer } = await open(context, options)
  const kind = options.webhook === undefined ? 'email' : 'webhook'
  const { endpoint } = await askSigned(client, 'notifications.endpoints.add', { body: { kind, target } }, signer)
  const body = { endpoint, topic, subject: rule }
  const added = await askSigned(client, 'notifications.watches.add', { body }, signer)
  printResult(context.terminal, options.json, added, () =>
    [`${added.watch}: ${rule} to ${target}`, `as a feed: ${added.feed_url}`].join('\n'),
  )
}

export async function listRules(context: CommandContext, options: AlertOptions): Promise<void> {
  const { client, signer } = await open(context, options)
  const own = await askSigned(client, 'notifications.own', {}, signer)
  const watches = own.watches.filter((watch) => watch.topic === topic)
  printResult(context.terminal, options.json, { ...own, watches }, () =>
    watches.length === 0
      ? 'no alerts'
      : table(watches, [
          { title: 'id', of: (row) => row.id },
          { title: 'rule', of: (row) => row.subject },
          { title: 'endpoint', of: (row) => row.endpoint },
          { title: 'state', of: (row) => (row.paused ? 'paused: needs a plan' : 'active') },
        ]),
  )
}

export async function removeRule(context: CommandContext, id: string, options: AlertOptions): Promise<void> {
  const { client, signer } = await open(context, options)
  const left = await askSigned(client, 'notifications.remove', { body: { id } }, signer)
  printResult(context.terminal, options.json, left, () => `removed ${id}`)
}
