import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { reportHash } from '@assay/protocol/typed-data/control-attestation'
import { clients, startTestChain } from '@assay/till/devnet/test-chain.fixture'
import { systemRng } from '@assay/till/kernel/random'
import { createFixedKeyring, generateSigningKey } from '@assay/till/signing'
import { type Abi, encodeFunctionData } from 'viem'
import { expect, test } from 'vitest'
import artifact from '../../../../../../contracts/artifacts/ControlAttestation.json' with { type: 'json' }
import { createAttester } from './attest.ts'

const verifier: Address = '0x00000000000000000000000000000000000a77e5'

test('the attestation of a report is checked by a contract, and a changed one is not its signer', async () => {
  const chain = await startTestChain()
  await chain.request('hardhat_setCode', [verifier, artifact.deployedBytecode])
  const keyring = createFixedKeyring(generateSigningKey(systemRng), 0)
  const node = 'https://node.example'
  const attester = createAttester({ keyring, jws: { sign: () => 'a.b.c', verify: () => undefined }, node })
  const facts = {
    chainId: 8453,
    token: '0xb200000000000000000000aaaaaaaaaaaaaaaaaa' as Address,
    blockNumber: 7n,
    blockHash: `0x${'ab'.repeat(32)}` as Hex,
    verdict: 'LOCKED',
    complete: true,
    reportHash: reportHash({ verdict: 'LOCKED', attestation: 'is left out' }),
    validUntil: 1_900_000_000,
  }
  const { signature } = (await attester.attest(facts)) as { signature: Hex }
  const abi = artifact.abi as Abi
  const signerOf = async (attested: object, forNode = node): Promise<string> => {
    const data = encodeFunctionData({ abi, functionName: 'signerOf', args: [attested, forNode, signature] })
    const { data: answer } = await clients(chain).reader.call({ to: verifier, data })
    return `0x${answer?.slice(-40)}`
  }
  const attested = { ...facts, chainId: 8453n, validUntil: 1_900_000_000n }
  expect(await signerOf(attested)).toBe(attester.address())
  expect(await signerOf({ ...attested, verdict: 'UNKNOWN' })).not.toBe(attester.address())
  expect(await signerOf({ ...attested, complete: false })).not.toBe(attester.address())
  expect(await signerOf(attested, 'https://other.example')).not.toBe(attester.address())
})
