// Started by persistence.chain.test.ts, which kills it in the middle of its work.

import { privateKeyToAccount } from 'viem/accounts'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { demoAccount, startDevnet } from './index.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: persistence-child <folder>')
const devnet = await startDevnet({ chainId: 8453, folder, clock: systemClock, log: silentLog })
const buyer = privateKeyToAccount(demoAccount('buyer').privateKey)
const start = Number(await devnet.request('eth_getTransactionCount', [buyer.address, 'latest']))
for (let nonce = start; ; nonce += 1) {
  const raw = await buyer.signTransaction({
    type: 'eip1559',
    chainId: 8453,
    nonce,
    to: demoAccount('operator').address,
    value: 1n,
    gas: 21_000n,
    maxFeePerGas: 1_000_000_000n,
    maxPriorityFeePerGas: 1_000_000n,
  })
  const hash = await devnet.request('eth_sendRawTransaction', [raw])
  process.stdout.write(`${hash}\n`)
}
