import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { formatUsd } from '@assay/sdk'
import { toAccount } from 'viem/accounts'
import type { CommandContext } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'
import { toInit } from './build-request.ts'
import { deliver } from './deliver.ts'
import { keepPurchase } from './keep-purchase.ts'
import { isPurchaseFile, loadPurchase, removePurchase } from './purchase-file.ts'
import { type BuyOptions, clientOf } from './run-buy.ts'

/** Asks again for what an earlier purchase bought. Nothing is signed, so no wallet is needed. */
export async function resumeBuy(
  context: CommandContext,
  file: string | undefined,
  options: Pick<BuyOptions, 'out' | 'save' | 'wait' | 'json' | 'raw' | 'allowUnsigned'>,
): Promise<void> {
  const { terminal } = context
  const path = file ?? (await onlyPurchase())
  const { request, purchase, payer } = await loadPurchase(path)
  const never = async () => {
    throw new Error('a resumed purchase signs nothing')
  }
  const account = toAccount({ address: payer, signMessage: never, signTransaction: never, signTypedData: never })
  const client = clientOf({ account, networks: [] }, options, terminal, formatUsd(BigInt(purchase.amountMicro)))
  try {
    const result = await terminal.untilInterrupted(async (signal) => {
      const resumed = await client.fetch(request.url, { ...toInit(request), signal }, { purchase })
      if (!isStream(resumed.response)) return resumed
      await relay(terminal, resumed.response, () => removePurchase(path)).catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
    })
    if (result === undefined) return
    const quote = { payTo: purchase.payTo, priceUsd: formatUsd(BigInt(purchase.amountMicro)) }
    await deliver(context, { request, result, client, quote }, options)
    await removePurchase(path)
  } catch (error) {
    throw await keepPurchase(error, path)
  }
}

const isStream = ({ ok, headers }: Response) =>
  ok && (headers.get('content-type') ?? '').startsWith('text/event-stream')

/** A stream has no end to wait for. Its first event has the token that opens it again, so that is when it was received. */
async function relay(terminal: Terminal, { body }: Response, received: () => Promise<void>): Promise<void> {
  const reader = body?.getReader()
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    terminal.outBytes(part.value)
    await received()
  }
}

async function onlyPurchase(): Promise<string> {
  const found = (await readdir(process.cwd())).filter(isPurchaseFile)
  if (found.length === 1 && found[0] !== undefined) return join(process.cwd(), found[0])
  throw found.length === 0
    ? usageError('no purchase to resume in this folder', 'Name the file: assay resume assay-purchase-….json')
    : usageError(`several purchases can be resumed: ${found.join(', ')}`, 'Name one of them.')
}
