import { AssayError, formatUsd } from '@assay/sdk'
import { toAccount } from 'viem/accounts'
import type { CommandContext } from '../command-context.ts'
import { toInit } from './build-request.ts'
import { deliver } from './deliver.ts'
import { loadPurchase, removePurchase } from './purchase-file.ts'
import { type BuyOptions, clientOf, keepPurchase } from './run-buy.ts'

/** Asks again for what an earlier purchase bought. Nothing is signed, so no wallet is needed. */
export async function resumeBuy(context: CommandContext, path: string, options: BuyOptions): Promise<void> {
  const { terminal } = context
  const pending = await loadPurchase(path)
  const { request, purchase, payer } = pending
  const never = async () => {
    throw new Error('a resumed purchase signs nothing')
  }
  const account = toAccount({ address: payer, signMessage: never, signTransaction: never, signTypedData: never })
  const client = clientOf({ account, networks: [] }, options, terminal, formatUsd(BigInt(purchase.amountMicro)))
  try {
    const result = await terminal.untilInterrupted((signal) =>
      client.fetch(request.url, { ...toInit(request), signal }, { purchase }),
    )
    const quote = { payTo: purchase.payTo, priceUsd: formatUsd(BigInt(purchase.amountMicro)) }
    await deliver(context, { request, result, client, quote }, options)
    await removePurchase(path)
  } catch (error) {
    const open = error instanceof AssayError && error.details.purchase !== undefined
    throw open ? await keepPurchase(error, pending, path) : error
  }
}
