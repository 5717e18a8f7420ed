import { formatUsd, readAffiliate, readLoyalty, redeemPoints } from '@assay/sdk'
import { chooseWallet, type WalletOptions } from '../buy/choose-wallet.ts'
import type { CommandContext } from '../command-context.ts'
import { freeClient } from '../free-client.ts'
import { printResult, table } from '../output.ts'

export async function showLoyalty({ terminal }: CommandContext, node: string, wallet: string, json?: boolean) {
  const loyalty = await readLoyalty(freeClient(), node, wallet)
  printResult(terminal, json, loyalty, () =>
    [
      `${loyalty.wallet}  ${loyalty.tier}`,
      `points   ${loyalty.points} (${loyalty.pending_points} pending)`,
      `spent    ${loyalty.spent_usd} USD`,
      `next     ${loyalty.next_tier ? `${loyalty.next_tier.name} after ${loyalty.next_tier.needs_usd} USD more` : 'the highest tier is reached'}`,
      `referred ${loyalty.referral.referred}, link ${loyalty.referral.link}`,
      '',
      table(loyalty.redeemable, [
        { title: 'reward', of: (row) => row.reward },
        { title: 'points', of: (row) => row.points, right: true },
        { title: 'calls now', of: (row) => String(row.calls), right: true },
        { title: 'what', of: (row) => row.what },
      ]),
    ].join('\n'),
  )
}

export async function showAffiliate({ terminal }: CommandContext, node: string, wallet: string, json?: boolean) {
  const status = await readAffiliate(freeClient(), node, wallet)
  const usd = (micro: string) => `${formatUsd(BigInt(micro))} USD`
  printResult(terminal, json, status, () =>
    [
      `${status.wallet}  ${status.rate * 100} %`,
      `earned  ${usd(status.earned_micro)}`,
      `pending ${usd(status.pending_micro)}`,
      `payable ${usd(status.payable_micro)}`,
      `paid    ${usd(status.paid_micro)}`,
      // Paid before its sale was given back: what is earned next goes there first.
      ...(status.owed_back_micro === '0' ? [] : [`owes    ${usd(status.owed_back_micro)}`]),
      `link    ${status.link}`,
      ...(status.payouts.length === 0
        ? []
        : [
            '',
            table(status.payouts, [
              { title: 'payout', of: (row) => row.id },
              { title: 'state', of: (row) => row.state },
              { title: 'amount', of: (row) => usd(row.amount_micro), right: true },
              { title: 'network', of: (row) => row.network },
              { title: 'transaction', of: (row) => row.transaction ?? '' },
            ]),
          ]),
    ].join('\n'),
  )
}

export async function runRedeem(
  { terminal }: CommandContext,
  node: string,
  reward: string,
  options: WalletOptions & { points?: string; json?: boolean },
) {
  const { account } = await chooseWallet(node, options, terminal)
  const client = freeClient(account)
  const redemption = await redeemPoints(client, {
    node,
    account,
    reward,
    ...(options.points === undefined ? {} : { points: options.points }),
  })
  printResult(terminal, options.json, redemption, () =>
    [
      `pass    ${redemption.pass.token}`,
      `calls   ${redemption.pass.calls} of up to ${redemption.pass.max_price_usd} USD each, until ${redemption.pass.expires_at}`,
      `burned  ${redemption.points} points, ${redemption.balance} left`,
      'use it  Authorization: Bearer <pass>',
    ].join('\n'),
  )
}
