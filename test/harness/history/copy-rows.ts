import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type pg from 'pg'

/** What the driver hands to a statement of its own kind; its types leave the part for COPY out. */
type Connection = {
  stream: Writable
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(reason: string): void
}

const chunkBytes = 256 * 1024

/** `COPY <target> FROM STDIN` with rows in the text format of PostgreSQL: fields between tabs, each row ended by a newline. */
export function copyRows(client: pg.Client, target: string, rows: Iterable<string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const statement = {
      submit: (connection: Connection) => connection.query(`copy ${target} from stdin`),
      handleCopyInResponse: (connection: Connection) =>
        void sendRows(connection, rows).catch((error: unknown) => connection.sendCopyFail(String(error))),
      handleCommandComplete: () => {},
      handleError: (error: Error) => reject(new Error(`${target}: ${error.message}`, { cause: error })),
      handleReadyForQuery: () => resolve(),
    }
    client.query(statement as unknown as pg.Submittable)
  })
}

async function sendRows(connection: Connection, rows: Iterable<string>): Promise<void> {
  let text = ''
  const send = async () => {
    connection.sendCopyFromChunk(Buffer.from(text))
    text = ''
    if (connection.stream.writableNeedDrain) await once(connection.stream, 'drain')
  }
  for (const row of rows) {
    text += row
    if (text.length >= chunkBytes) await send()
  }
  if (text !== '') await send()
  connection.endCopyFrom()
}
