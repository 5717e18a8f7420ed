import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { NodeIndex } from '../node/node-index.ts'
import { shortHex } from '../ui/format.ts'
import { Balance, CloseIcon, MenuIcon, MoonIcon, SunIcon } from '../ui/icons.tsx'
import { Synthetic } from '../ui/parts.tsx'
import { walletName, wallet as walletStore } from '../wallet/wallet-store.ts'
import { announce, announcement } from './announce.ts'
import { groups, pages } from './pages.ts'
import { useStore } from './store.ts'
import { chooseTheme, onTheme, themeNow } from './theme-choice.ts'

type Props = { page: string; index: NodeIndex | undefined; children: ComponentChildren }

export function Shell({ page, index, children }: Props) {
  const [open, setOpen] = useState(false)
  // A new page closes the menu.
  useEffect(() => setOpen(false), [page])
  useEffect(() => {
    if (!open) return
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && setOpen(false)
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [open])
  return (
    <>
      {/* The hash names pages, so the jump is made by hand. */}
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <div class="frame">
        <aside class={open ? 'side open' : 'side'} id="menu">
          <a class="brand" href="#/">
            <Balance />
            Assay
          </a>
          <Navigation page={page} />
          <div class="foot">
            {index === undefined ? null : (
              <>
                <div class="row">
                  Version {index.version}
                  <Synthetic of={index.demo !== undefined} />
                </div>
                <div>{index.demo === undefined ? 'Production node' : 'Demo node: nothing here has value'}</div>
              </>
            )}
          </div>
        </aside>
        {open ? <button type="button" class="veil" aria-label="Close the menu" onClick={() => setOpen(false)} /> : null}
        <div>
          <header class="top">
            <button
              type="button"
              class="icon-button menu-button"
              aria-expanded={open}
              aria-controls="menu"
              aria-label={open ? 'Close the menu' : 'Open the menu'}
              onClick={() => setOpen(!open)}
            >
              {open ? <CloseIcon /> : <MenuIcon />}
            </button>
            <a class="brand" href="#/">
              <Balance />
              Assay
            </a>
            <span class="grow" />
            <WalletChip />
            <ThemeButton />
          </header>
          <main id="main" tabIndex={-1}>
            {children}
          </main>
        </div>
      </div>
      <Announcer />
    </>
  )
}

function Navigation({ page }: { page: string }) {
  return (
    <nav aria-label="Console">
      {groups.map(([group, title]) => (
        <section key={group}>
          <h2>{title}</h2>
          <ul>
            {pages
              .filter((entry) => entry.group === group)
              .map((entry) => (
                <li key={entry.name}>
                  <a
                    href={entry.name === 'start' ? '#/' : `#/${entry.name}`}
                    aria-current={entry.name === page ? 'page' : undefined}
                  >
                    {entry.title}
                  </a>
                </li>
              ))}
            {group === 'node' ? (
              <li>
                <a href="/reference">API reference</a>
              </li>
            ) : null}
          </ul>
        </section>
      ))}
    </nav>
  )
}

function WalletChip() {
  const wallet = useStore(walletStore)
  return (
    <a class="button small" href="#/wallet">
      {wallet === undefined ? (
        'Connect a wallet'
      ) : (
        <>
          {walletName(wallet)}
          <span class="mono soft hide-narrow">{shortHex(wallet.address)}</span>
        </>
      )}
    </a>
  )
}

function ThemeButton() {
  const [theme, setTheme] = useState(themeNow)
  useEffect(() => onTheme(() => setTheme(themeNow())), [])
  const other = theme === 'dark' ? 'light' : 'dark'
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={`Switch to the ${other} theme`}
      onClick={() => chooseTheme(other)}
    >
      {theme === 'dark' ? <SunIcon /> : <MoonIcon />}
    </button>
  )
}

/** What was done, for a moment; read aloud as well. */
function Announcer() {
  const text = useStore(announcement)
  useEffect(() => {
    const timer = setTimeout(() => announce(''), 5_000)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div class="toast" role="status" aria-live="polite">
      {text}
    </div>
  )
}
