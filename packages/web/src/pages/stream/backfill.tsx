import { useNode } from '../../node/context.ts'
import { useAnswer } from '../../node/use-answer.ts'
import { useAttempt } from '../../node/use-attempt.ts'
import { Await, Problem, saveFile } from '../../ui/parts.tsx'

/** All since the subscription began as files by day: every event as it was signed. */
export function Backfill({ token }: { token: string }) {
  const index = useNode()
  const { problem, attempt } = useAttempt()
  const reading = () => import('./follow.ts').then(({ openIntents }) => openIntents(index))
  const [files] = useAnswer(token, async () => (await (await reading()).files(token)).data)
  const save = async (file: string) => {
    await attempt(async () => {
      saveFile(`intents-${file}.ndjson`, await (await reading()).file(token, file), 'application/x-ndjson')
    })
  }
  return (
    <Await of={files} what="Reading the files">
      {(rows) => (
        <div class="stack">
          <h3>Files</h3>
          <div class="row">
            {rows.map(({ file, events }) => (
              <button key={file} type="button" class="button small" onClick={() => save(file)}>
                {file}, {events} events
              </button>
            ))}
          </div>
          <Problem problem={problem} />
        </div>
      )}
    </Await>
  )
}
