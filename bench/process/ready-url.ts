import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

/** The address that a node prints once it is ready; what it complained about where it ends or hangs before. */
export function readyUrl(child: ChildProcess, withinMs = 180_000): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`a node was not ready after ${withinMs / 1000} s: ${said}`))
    }, withinMs)
    child.stderr?.on('data', (piece: Buffer) => {
      said = `${said}${piece.toString()}`.slice(-4_000)
    })
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (!line.startsWith('ready ')) return
      clearTimeout(late)
      resolve(line.slice('ready '.length))
    })
    child.once('exit', (code) => {
      clearTimeout(late)
      reject(new Error(`a node ended with ${code} before it was ready: ${said}`))
    })
  })
}
