import { writeFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'

let session: Session | undefined

/** Records what this process spends its time on, to be opened in any viewer of .cpuprofile files. */
export const profileCommands = {
  startProfile: async () => {
    session = new Session()
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
  },
  stopProfile: async (file: string) => {
    const recorded = await session?.post('Profiler.stop')
    session?.disconnect()
    await writeFile(file, JSON.stringify(recorded?.profile))
  },
}
