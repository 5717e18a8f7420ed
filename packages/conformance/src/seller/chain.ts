import { permit2Address } from '@assay/protocol/typed-data/permit2'
import type { Offer } from '@assay/sdk'
import { type Abi, type Address, erc20Abi, type Hex, type LocalAccount, parseAbi } from 'viem'
import switchWallet from '../../../../contracts/artifacts/SwitchWallet.json' with { type: 'json' }
import { permit2Abi, permit2Call } from '../facilitator/permit2-on-chain.ts'
import { type OpenWallet, openWallet } from '../open-wallet.ts'
import { decodePayment, domainOf } from './sign-payment.ts'
import { decodePermit } from './sign-permit.ts'

const token = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

const walletAbi = parseAbi(['function setValid(bool valid)'])

const cancelTypes = {
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** An address whose key nobody has. */
export const nobody: Address = '0x000000000000000000000000000000000000dEaD'

/** What a buyer can do and see on chain without the seller. */
export type Chain = {
  balance(address: Address): Promise<bigint>
  /** Sends test money to another wallet. */
  transfer(to: Address, value: bigint): Promise<void>
  /** Carries a payment to the chain; false when the token refuses it. */
  carry(payment: string): Promise<boolean>
  /** Cancels the nonce of a payment; false when the token cannot. */
  cancel(payment: string): Promise<boolean>
  /** Lets Permit2 take so much from the paying wallet; returns the hash of the transaction. */
  approvePermit2(value: bigint): Promise<Hex>
  /** Uses up the nonce of a permit; false when the chain has no Permit2. */
  cancelPermit(payment: string): Promise<boolean>
  /** Carries a permit to the chain; false when it is refused. */
  submitPermit(payment: string): Promise<boolean>
  /** A contract wallet (ERC-1271) that accepts every signature, and can be changed to accept none. */
  deployWallet(): Promise<{ address: Address; refuseSignatures(): Promise<void> }>
  /** From now on the code of the contract decides for the paying wallet (EIP-7702); false when the chain has no such thing. */
  delegate(to: Address): Promise<boolean>
  /** Units moved from one address to the other by a transaction; undefined when it is not on chain. */
  movedBy(transaction: Hex, from: Address, to: Address): Promise<bigint | undefined>
}

const parts = (signature: Hex) =>
  [
    Number.parseInt(signature.slice(130, 132), 16),
    `0x${signature.slice(2, 66)}` as Hex,
    `0x${signature.slice(66, 130)}` as Hex,
  ] as const

/** False when it was refused, before or on chain. */
async function confirmed(wallet: OpenWallet, sent: Promise<Hex>): Promise<boolean> {
  const hash = await sent.catch(() => undefined)
  if (hash === undefined) return false
  return (await wallet.waitForTransactionReceipt({ hash, pollingInterval: 100 })).status === 'success'
}

export function openChain(rpc: string, offer: Offer, account: LocalAccount): Chain {
  const wallet = openWallet(rpc, offer.network, account)
  const address = offer.asset as Address
  return {
    balance: (owner) => wallet.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] }),
    async transfer(to, value) {
      const sent = wallet.writeContract({ address, abi: token, functionName: 'transfer', args: [to, value] })
      if (!(await confirmed(wallet, sent))) throw new Error('the paying wallet could not send test money: it needs gas')
    },
    carry(payment) {
      const { signature, authorization } = decodePayment(payment).payload
      const { from, to, value, validAfter, validBefore, nonce } = authorization
      const terms = [
        from as Address,
        to as Address,
        BigInt(value ?? 0),
        BigInt(validAfter ?? 0),
        BigInt(validBefore ?? 0),
        nonce,
      ] as const
      const args = [...terms, ...parts(signature)] as const
      return confirmed(
        wallet,
        wallet.writeContract({ address, abi: token, functionName: 'transferWithAuthorization', args }),
      )
    },
    async cancel(payment) {
      const { nonce } = decodePayment(payment).payload.authorization
      const signature = await account.signTypedData({
        domain: domainOf(offer),
        types: cancelTypes,
        primaryType: 'CancelAuthorization',
        message: { authorizer: account.address, nonce },
      })
      const args = [account.address, nonce, ...parts(signature)] as const
      return confirmed(wallet, wallet.writeContract({ address, abi: token, functionName: 'cancelAuthorization', args }))
    },
    ...permitsOn(wallet, address),
    async deployWallet() {
      const { abi, bytecode } = switchWallet as { abi: Abi; bytecode: Hex }
      const hash = await wallet.deployContract({ abi, bytecode })
      const { contractAddress } = await wallet.waitForTransactionReceipt({ hash, pollingInterval: 100 })
      if (!contractAddress) throw new Error('the wallet contract was not deployed')
      const call = { address: contractAddress, abi: walletAbi, functionName: 'setValid', args: [false] } as const
      return {
        address: contractAddress,
        refuseSignatures: async () => {
          if (!(await confirmed(wallet, wallet.writeContract(call))))
            throw new Error('the wallet contract cannot be changed')
        },
      }
    },
    async delegate(to) {
      const authorization = await wallet
        .signAuthorization({ contractAddress: to, executor: 'self' })
        .catch(() => undefined)
      if (authorization === undefined) return false
      // To nobody: the code that the account has from now on may refuse calls.
      const sent = wallet.sendTransaction({ to: nobody, gas: 150_000n, authorizationList: [authorization] })
      return (await confirmed(wallet, sent)) && (await wallet.getCode({ address: account.address })) !== undefined
    },
    async movedBy(transaction, from, to) {
      const receipt = await wallet.getTransactionReceipt({ hash: transaction }).catch(() => undefined)
      if (receipt?.status !== 'success') return undefined
      const topic = (one: Address) => `0x${one.slice(2).toLowerCase().padStart(64, '0')}`
      return receipt.logs
        .filter((log) => log.address.toLowerCase() === address.toLowerCase() && log.topics[0] === transferTopic)
        .filter((log) => log.topics[1] === topic(from) && log.topics[2] === topic(to))
        .reduce((sum, log) => sum + BigInt(log.data), 0n)
    },
  }
}

/** What the paying wallet does with Permit2. */
const permitsOn = (
  wallet: OpenWallet,
  asset: Address,
): Pick<Chain, 'approvePermit2' | 'cancelPermit' | 'submitPermit'> => ({
  async approvePermit2(value) {
    const args = [permit2Address, value] as const
    const hash = await wallet.writeContract({ address: asset, abi: erc20Abi, functionName: 'approve', args })
    if (!(await confirmed(wallet, Promise.resolve(hash)))) throw new Error('the token does not take approvals')
    return hash
  },
  cancelPermit(payment) {
    const nonce = BigInt(decodePermit(payment).payload.permit2Authorization.nonce)
    const args = [nonce >> 8n, 1n << (nonce & 0xffn)] as const
    const call = { address: permit2Address, abi: permit2Abi, functionName: 'invalidateUnorderedNonces', args } as const
    return confirmed(wallet, wallet.writeContract(call))
  },
  submitPermit(payment) {
    const { permit2Authorization: permit, signature } = decodePermit(payment).payload
    const call = permit2Call(permit, BigInt(permit.permitted.amount), signature)
    return confirmed(wallet, wallet.writeContract(call as unknown as Parameters<typeof wallet.writeContract>[0]))
  },
})

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
