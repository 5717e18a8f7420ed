// The floor of a framework: its routing and nothing else, writing bytes it was given.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { Hono } from 'hono'
import { answerCommands, cpuMicros } from '../process/commands.ts'
import type { FixedAnswer } from './bare.ts'
import { keepAliveTimeout } from './keep-alive.ts'

type Given = { path: string; answer: FixedAnswer }

const { path, answer } = JSON.parse(process.env['GIVEN'] ?? '') as Given
const { status, body } = answer
const headers = Object.fromEntries(
  answer.headers.flatMap((name, index) => (index % 2 === 0 ? [[name, answer.headers[index + 1] ?? '']] : [])),
)
const server = createServer(
  { keepAliveTimeout },
  process.env['FRAMEWORK'] === 'express'
    ? express().get(path, (_request, response) => {
        response.writeHead(status, headers).end(body)
      })
    : getRequestListener(new Hono().get(path, () => new Response(body, { status, headers })).fetch),
)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

answerCommands({ port: () => (server.address() as AddressInfo).port, cpu: cpuMicros }, async () => {
  server.closeAllConnections()
  server.close()
})
