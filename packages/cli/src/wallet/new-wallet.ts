import { writeFile } from 'node:fs/promises'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { CommandContext } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { printResult } from '../output.ts'

export type NewWalletOptions = { out: string; json?: boolean }

export async function newWallet({ terminal }: CommandContext, { out, json }: NewWalletOptions): Promise<void> {
  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  // `wx`: a key that is overwritten is money that is gone.
  await writeFile(out, `${key}\n`, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST'
      ? usageError(`${out} exists already`, 'Choose another name: a key is never overwritten.')
      : usageError(`cannot write ${out}: ${error.message}`)
  })
  printResult(terminal, json, { address, key_file: out }, () =>
    [
      address,
      `The key is in ${out}. Anyone who has it has the money: keep a copy where nobody else looks.`,
      `Send USDC on Base or Polygon to the address; gas is not needed. Then: assay buy <url> --key-file ${out}`,
    ].join('\n'),
  )
}
