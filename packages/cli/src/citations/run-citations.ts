import { writeFile } from 'node:fs/promises'
import { formatUsd, parseUsd, readAttestation, readCreator, royaltyInfo } from '@assay/sdk'
import { chooseWallet } from '../buy/choose-wallet.ts'
import { type BuyOptions, runBuy } from '../buy/run-buy.ts'
import type { CommandContext } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { freeClient } from '../free-client.ts'
import { printResult } from '../output.ts'

const post = (options: BuyOptions, body: unknown): BuyOptions => ({
  ...options,
  method: 'POST',
  data: JSON.stringify(body),
  network: 'base',
  outEvidence: true,
})

export async function runCite(
  context: CommandContext,
  node: string,
  sourceUrl: string,
  options: BuyOptions & { quote?: string; claim?: string; queryId?: string },
): Promise<void> {
  const { account } = await chooseWallet(node, options, context.terminal)
  const { quote, claim, queryId } = options
  const body = { source_url: sourceUrl, agent_wallet: account.address, quote, claim, query_id: queryId }
  await runBuy(context, `${node}/v1/cite/attest`, post(options, body))
}

export async function runClaim(
  context: CommandContext,
  node: string,
  statement: string,
  options: BuyOptions & { source: string[] },
): Promise<void> {
  const { account } = await chooseWallet(node, options, context.terminal)
  const body = { statement, sources: options.source, agent_wallet: account.address }
  await runBuy(context, `${node}/v1/claims/anchor`, post(options, body))
}

export async function runRemit(
  context: CommandContext,
  node: string,
  parent: string,
  options: BuyOptions & { sale: string },
): Promise<void> {
  const micro = parseUsd(options.sale)
  if (micro === undefined || micro === 0n) throw usageError(`--sale: not decimal USD above zero: ${options.sale}`)
  await runBuy(context, `${node}/v1/royalties/remit`, post(options, { parent, sale_price_micro: micro.toString() }))
}

export async function showAttestation(
  { terminal }: CommandContext,
  node: string,
  id: string,
  options: { out?: string; json?: boolean },
): Promise<void> {
  const found = await readAttestation(freeClient(), node, id)
  if (options.out !== undefined) await writeFile(options.out, `${JSON.stringify(found, null, 2)}\n`)
  printResult(terminal, options.json, found, () =>
    [
      `${found.id}  ${String(found.record.source_url ?? found.record.claim_sha256)}`,
      ...found.payouts.map(
        ({ domain, micro, state, note }) => `${domain}  ${formatUsd(BigInt(micro))} USD  ${state}: ${note}`,
      ),
      found.log.state === 'logged'
        ? `log entry ${found.log.leaf_index} of ${found.log.tree_size}`
        : 'not in the log yet',
    ].join('\n'),
  )
}

export async function showCreator(
  { terminal }: CommandContext,
  node: string,
  wallet: string,
  json: boolean | undefined,
): Promise<void> {
  const creator = await readCreator(freeClient(), node, wallet)
  const usd = (micro: string) => formatUsd(BigInt(micro))
  printResult(terminal, json, creator, () =>
    [
      `${creator.wallet}  earned ${usd(creator.earned_micro)} USD`,
      ...creator.chains.map(
        (chain) =>
          `${chain.network}  accrued ${usd(chain.accrued_micro)}, held ${usd(chain.held_micro)}, on chain ${usd(chain.committed_micro)}, ` +
          `received ${usd(chain.claimed_micro)}, claimable ${usd(chain.claimable_micro)} (sent from ${usd(chain.threshold_micro)} on)`,
      ),
      ...creator.chains.flatMap(({ claims }) =>
        claims.map(
          ({ domain, micro, data, to }) =>
            `claim ${usd(micro)} USD of ${domain ?? 'an unknown domain'} yourself: send ${data.slice(0, 10)}… to ${to} (--json has all of it)`,
        ),
      ),
      ...creator.moves.map(
        ({ domain, from, to, state, ready_at }) =>
          `move of ${domain ?? 'an unknown domain'} from ${from} to ${to}: ${state}${ready_at === null ? '' : `, ready ${ready_at}`}`,
      ),
      ...creator.payouts.map(
        ({ amount_micro, transaction, claimed_at }) => `${claimed_at}  ${usd(amount_micro)} USD  ${transaction}`,
      ),
    ].join('\n'),
  )
}

export async function showRoyalty(
  { terminal }: CommandContext,
  node: string,
  price: string,
  json: boolean | undefined,
): Promise<void> {
  const micro = parseUsd(price)
  if (micro === undefined) throw usageError(`not decimal USD: ${price}`, 'Such as 12.50, with at most six decimals.')
  const info = await royaltyInfo(freeClient(), node, micro)
  printResult(terminal, json, info, () =>
    [
      `${formatUsd(BigInt(info.royalty_amount))} USD of ${price} USD (${info.bps / 100} %) to ${info.receiver}`,
      `the same on ${info.network}: royaltyInfo of ${info.contract}`,
    ].join('\n'),
  )
}
