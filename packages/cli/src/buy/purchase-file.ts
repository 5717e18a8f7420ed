import { readFile, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Purchase } from '@assay/sdk'
import { usageError } from '../exit-codes.ts'
import type { RequestToSend } from './build-request.ts'

/** A purchase whose end is not known, kept so that it can be asked for again without paying again. */
export type PendingPurchase = { request: RequestToSend; purchase: Purchase; payer: `0x${string}` }

type File = {
  format: 'assay-purchase'
  version: 1
  request: { url: string; method: string; headers: Record<string, string>; body_base64: string }
  payer: `0x${string}`
  purchase: Purchase
}

export const isPurchaseFile = (name: string) => /^assay-purchase-[0-9a-f]+\.json$/.test(name)

/** For the owner's eyes only: anyone who has it can fetch the answer. */
export async function savePurchase(pending: PendingPurchase): Promise<string> {
  const path = resolve(process.cwd(), `assay-purchase-${pending.purchase.nonce.slice(-8)}.json`)
  const { url, method, headers, body } = pending.request
  const file: File = {
    format: 'assay-purchase',
    version: 1,
    request: { url, method, headers, body_base64: Buffer.from(body).toString('base64') },
    payer: pending.payer,
    purchase: pending.purchase,
  }
  await writeFile(path, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
  return path
}

export async function loadPurchase(path: string): Promise<PendingPurchase> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw usageError(`cannot read ${path}`)
  })
  const file = parse(text)
  if (file === undefined) throw usageError(`${path} is not a purchase file of this program`)
  const { request, payer, purchase } = file
  const { url, method, headers, body_base64 } = request
  return { payer, purchase, request: { url, method, headers, body: Buffer.from(body_base64, 'base64') } }
}

function parse(text: string): File | undefined {
  try {
    const value = JSON.parse(text) as Partial<File> | null
    if (value?.format !== 'assay-purchase' || value.version !== 1) return undefined
    const complete = value.request?.url && value.request.method && value.purchase?.paymentHeader && value.payer
    return complete ? (value as File) : undefined
  } catch {
    return undefined
  }
}

export async function removePurchase(path: string): Promise<void> {
  await rm(path, { force: true })
}
