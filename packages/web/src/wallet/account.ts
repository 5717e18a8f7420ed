import { getTypesForEIP712Domain, type LocalAccount, numberToHex, serializeTypedData, stringToHex } from 'viem'
import { privateKeyToAccount, toAccount } from 'viem/accounts'
import type { NodeIndex } from '../node/node-index.ts'
import { ProblemError } from '../node/problem.ts'
import type { Eip1193, Wallet } from './wallet-store.ts'

/** The chosen wallet as something the sdk can sign with. No wallet is ever asked to send a transaction. */
export function accountOf(index: NodeIndex, chosen: Wallet): LocalAccount {
  if (chosen.kind === 'outside') {
    // What is signed for a demo node is worthless, but a real wallet has no business there.
    if (index.demo !== undefined) throw new ProblemError({ title: 'A demo node is used with its demo wallets only.' })
    return outsideAccount(chosen.address as `0x${string}`, chosen.provider)
  }
  const key = index.demo?.accounts.find((account) => account.role === chosen.role)?.private_key
  if (key === undefined) throw new ProblemError({ title: 'This node lends no wallet of that name.' })
  return privateKeyToAccount(key as `0x${string}`)
}

function outsideAccount(address: `0x${string}`, provider: Eip1193): LocalAccount {
  const ask = async (method: string, params: unknown[]) => (await provider.request({ method, params })) as `0x${string}`
  return toAccount({
    address,
    signMessage: ({ message }) =>
      ask('personal_sign', [typeof message === 'string' ? stringToHex(message) : message.raw, address]),
    signTypedData: async (typed) => {
      const { domain, types, primaryType, message } = typed as unknown as {
        domain: { chainId?: number }
        types: Record<string, unknown>
        primaryType: string
        message: Record<string, unknown>
      }
      if (domain.chainId !== undefined) await selectChain(provider, Number(domain.chainId))
      const whole = {
        domain,
        types: { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types },
        primaryType,
        message,
      }
      return ask('eth_signTypedData_v4', [
        address,
        serializeTypedData(whole as Parameters<typeof serializeTypedData>[0]),
      ])
    },
    signTransaction: async () => {
      throw new ProblemError({ title: 'The console sends no transactions.' })
    },
  })
}

/** Many wallets sign typed data only for the chain they are on. Choosing one moves nothing. */
async function selectChain(provider: Eip1193, chainId: number): Promise<void> {
  const wanted = numberToHex(chainId)
  const now = await provider.request({ method: 'eth_chainId' })
  if (now !== wanted) await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: wanted }] })
}
