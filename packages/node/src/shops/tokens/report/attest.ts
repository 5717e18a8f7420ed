import { type Address, checksumAddress } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import type { Json } from '@assay/protocol/canonical-json'
import { type AttestedFacts, controlAttestation } from '@assay/protocol/typed-data/control-attestation'
import type { JwsPort } from '@assay/till/internal'
import { deriveSecret, type Keyring, type PrivateSigningKey } from '@assay/till/signing'
import { hashTypedData } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'

export type Attester = {
  address(): Address
  attest(facts: AttestedFacts): Promise<Json>
}

/**
 * EIP-712 needs a key of the chain's own curve. It is derived from the signing key, so that there is no second secret to
 * keep, and the signing key itself says whose address that is.
 */
export function createAttester(deps: { keyring: Keyring; jws: JwsPort; node: string }): Attester {
  let made: { keyId: string; x: string; account: PrivateKeyAccount; statements: Map<number, string> } | undefined
  const current = () => {
    const key = deps.keyring.active()
    if (made?.keyId !== key.keyId)
      made = { keyId: key.keyId, x: key.x, account: deriveAccount(key), statements: new Map() }
    return made
  }
  return {
    address: () => current().account.address.toLowerCase() as Address,
    attest: async (facts) => {
      const { account, keyId, x, statements } = current()
      const statement =
        statements.get(facts.chainId) ??
        deps.jws.sign({ type: 'assay-attester', attester: account.address, chain_id: facts.chainId, node: deps.node })
      statements.set(facts.chainId, statement)
      const typed = controlAttestation(facts, deps.node)
      return {
        standard: 'EIP-712',
        node: deps.node,
        domain: typed.domain,
        primary_type: typed.primaryType,
        message: {
          chainId: String(facts.chainId),
          token: checksumAddress(facts.token),
          blockNumber: facts.blockNumber.toString(),
          blockHash: facts.blockHash,
          verdict: facts.verdict,
          complete: facts.complete,
          reportHash: facts.reportHash,
          validUntil: String(facts.validUntil),
        },
        digest: hashTypedData(typed),
        attester: account.address,
        signature: await account.signTypedData(typed),
        key_id: keyId,
        public_key: x,
        attester_statement: statement,
      }
    },
  }
}

const deriveAccount = (key: PrivateSigningKey): PrivateKeyAccount =>
  privateKeyToAccount(toHex(deriveSecret(key, 'assay eip-712 attester v1')))
