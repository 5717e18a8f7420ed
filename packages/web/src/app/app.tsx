import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useErrorBoundary, useState } from 'preact/hooks'
import { ask } from '../node/ask.ts'
import { NodeContext } from '../node/context.ts'
import type { NodeIndex } from '../node/node-index.ts'
import { asProblem, type ProblemError } from '../node/problem.ts'
import { useAnswer } from '../node/use-answer.ts'
import { PageHead, Problem, Waiting } from '../ui/parts.tsx'
import { openWallet } from '../wallet/wallet-store.ts'
import { type PageProps, pages } from './pages.ts'
import { parseRoute, type Route } from './route.ts'
import { Shell } from './shell.tsx'

export function App() {
  const route = useRoute()
  const [index, again] = useAnswer('index', async (signal) => {
    const { body } = await ask<NodeIndex>('/', { signal })
    openWallet(body)
    return body
  })
  return (
    <Shell page={route.page} index={index.state === 'done' ? index.value : undefined}>
      {index.state === 'failed' ? <Problem problem={index.problem} again={again} /> : null}
      {index.state === 'waiting' ? <Waiting what="Opening the console" /> : null}
      {index.state === 'done' ? (
        <NodeContext.Provider value={index.value}>
          <PageOf route={route} />
        </NodeContext.Provider>
      ) : null}
    </Shell>
  )
}

function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  useEffect(() => {
    const moved = () =>
      setRoute((before) => {
        const next = parseRoute(location.hash)
        // What opens over a page leaves it where it was.
        if (next.page !== before.page || next.rest[0] !== before.rest[0]) scrollTo(0, 0)
        return next
      })
    window.addEventListener('hashchange', moved)
    return () => window.removeEventListener('hashchange', moved)
  }, [])
  return route
}

type Opened = { name: string; Page: ComponentType<PageProps> } | { name: string; problem: ProblemError }

function PageOf({ route }: PageProps) {
  const [opened, setOpened] = useState<Opened>()
  useEffect(() => {
    const page = pages.find(({ name }) => name === route.page)
    if (page === undefined) return
    let stale = false
    Promise.resolve(page.load()).then(
      (Page) => stale || setOpened({ name: page.name, Page }),
      (error: unknown) => stale || setOpened({ name: page.name, problem: asProblem(error) }),
    )
    return () => {
      stale = true
    }
  }, [route.page])
  if (!pages.some(({ name }) => name === route.page))
    return (
      <PageHead title="No such page">
        <p class="lead">
          The console has no page of that name. <a href="#/">Go to the start.</a>
        </p>
      </PageHead>
    )
  if (opened?.name !== route.page) return <Waiting what="Opening the page" />
  return 'Page' in opened ? (
    <Guarded key={route.page}>
      <opened.Page route={route} />
    </Guarded>
  ) : (
    <Problem problem={opened.problem} again={() => location.reload()} />
  )
}

/** A page that breaks says so; the rest of the console goes on. */
function Guarded({ children }: { children: ComponentChildren }) {
  const [broken, retry] = useErrorBoundary()
  return broken === undefined ? children : <Problem problem={asProblem(broken)} again={retry} />
}
