import { createMandate, formatUsd, listMandates, type Mandate, revokeMandate } from '@assay/sdk'
import { chooseWallet } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { freeClient } from '../free-client.ts'
import { printResult } from '../output.ts'
import { amountArgument, type SignerOptions } from './run-credit.ts'

const usd = (micro: string) => formatUsd(BigInt(micro))

const mandateText = (mandate: Mandate): string =>
  [
    `${mandate.id}  ${mandate.state}`,
    `  from     ${mandate.owner}`,
    `  to       ${mandate.delegate}`,
    `  routes   ${mandate.routes.join(' ')}`,
    `  at most  ${usd(mandate.cap_per_call_micro)} a call, ${usd(mandate.cap_per_day_micro)} a day, ${usd(mandate.cap_total_micro)} USD in all`,
    `  drawn    ${usd(mandate.drawn_today_micro)} today, ${usd(mandate.drawn_total_micro)} USD in all`,
    `  until    ${mandate.expires_at}`,
  ].join('\n')

export async function runCreate(
  { terminal }: CommandContext,
  node: string,
  options: SignerOptions & {
    delegate: string
    route: string[]
    perCall: string
    perDay: string
    total: string
    days: number
  },
): Promise<void> {
  const { account } = await chooseWallet(node, options, terminal)
  const mandate = await createMandate(freeClient(), account, {
    node,
    delegate: options.delegate,
    routes: options.route,
    maxPerCallUsd: amountArgument('--per-call', options.perCall),
    maxPerDayUsd: amountArgument('--per-day', options.perDay),
    maxTotalUsd: amountArgument('--total', options.total),
    expiresAt: new Date(Date.now() + options.days * 86_400_000),
  })
  printResult(
    terminal,
    options.json,
    mandate,
    () => `${mandateText(mandate)}\n\nthe delegate draws with: assay credit call <url> --mandate ${mandate.id}`,
  )
}

export async function runList(
  { terminal }: CommandContext,
  node: string,
  options: SignerOptions & { all?: boolean },
): Promise<void> {
  const { account } = await chooseWallet(node, options, terminal)
  const mandates = await listMandates(freeClient(), { node, account, all: options.all ?? false })
  printResult(terminal, options.json, { data: mandates }, () =>
    mandates.length === 0 ? 'no mandates' : mandates.map(mandateText).join('\n'),
  )
}

export async function runRevoke(
  { terminal }: CommandContext,
  node: string,
  id: string,
  options: SignerOptions,
): Promise<void> {
  const { account } = await chooseWallet(node, options, terminal)
  const mandate = await revokeMandate(freeClient(), { node, account, id })
  printResult(terminal, options.json, mandate, () => `${mandate.id} is revoked; the next draw is refused`)
}
