import { useEffect, useState } from 'preact/hooks'
import { useStore } from '../app/store.ts'
import { useNode } from '../node/context.ts'
import { asProblem, type ProblemError } from '../node/problem.ts'
import { Notice, Problem } from '../ui/parts.tsx'
import { connectOutsideWallet, findOutsideWallets, type OutsideWallet } from './outside-wallets.ts'
import { chooseDemoWallet, wallet as walletStore } from './wallet-store.ts'

/** Demo wallets on a demo node; elsewhere the wallets this browser has. Never both. */
export function ConnectWallet() {
  const index = useNode()
  const wallet = useStore(walletStore)
  if (index.demo === undefined) return <OutsideWallets />
  return (
    <fieldset class="stack tight">
      <legend class="soft small">Wallets this demo node lends</legend>
      <div class="row">
        {index.demo.accounts.map(({ role }) => (
          <button
            key={role}
            type="button"
            class="chip"
            aria-pressed={wallet?.kind === 'demo' && wallet.role === role}
            onClick={() => chooseDemoWallet(index, role)}
          >
            {role}
          </button>
        ))}
      </div>
    </fieldset>
  )
}

function OutsideWallets() {
  const wallet = useStore(walletStore)
  const [wallets, setWallets] = useState<OutsideWallet[]>([])
  const [problem, setProblem] = useState<ProblemError>()
  useEffect(() => findOutsideWallets(setWallets), [])
  return (
    <div class="stack tight">
      {wallets.length === 0 ? (
        <Notice tone="warn">
          <strong>No wallet found in this browser.</strong>
          <p>
            Install a browser wallet and open this page again. The command line needs none: assay wallet, assay buy.
          </p>
        </Notice>
      ) : null}
      <div class="row">
        {wallets.map((found) => (
          <button
            key={found.id}
            type="button"
            class="button"
            onClick={() => connectOutsideWallet(found).catch((error: unknown) => setProblem(asProblem(error)))}
          >
            {wallet?.kind === 'outside' && wallet.name === found.name
              ? `Connect ${found.name} again`
              : `Connect ${found.name}`}
          </button>
        ))}
      </div>
      <Problem problem={problem} />
    </div>
  )
}
