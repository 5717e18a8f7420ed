// Loaded before anything else by the processes of a rehearsal (NODE_OPTIONS=--import): real names lead to the simulated
// outside world, and nothing leaves this machine. REHEARSAL_INTERNET names a file with `names` (host to address), `ports`
// (address:port to a port on loopback) and `dns` (port of the resolver).
import dgram from 'node:dgram'
import dns from 'node:dns'
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const file = process.env.REHEARSAL_INTERNET ?? ''
const read = () => JSON.parse(readFileSync(file, 'utf8'))
const isLoopback = (host) => /^(127\.|::1$|\[::1\]$|localhost$)/.test(host)

/** A port of loopback that nobody listens at. */
const nowhere = { host: '127.0.0.1', port: 1 }

function routeOf(host, port) {
  const { names, ports } = read()
  const target = ports[`${names[host] ?? host}:${port}`]
  return target === undefined ? nowhere : { host: '127.0.0.1', port: target }
}

const connect = net.Socket.prototype.connect
net.Socket.prototype.connect = function connectInside(...args) {
  // What net.connect() hands on is an array that it marked; otherwise these are the caller's own arguments.
  const list = Array.isArray(args[0]) ? args[0] : args
  if (typeof list[0] === 'object' && list[0] !== null) {
    const { host = 'localhost', port, path } = list[0]
    // The path of a Unix socket; http leaves it null.
    if (!path && !isLoopback(host)) list[0] = { ...list[0], ...routeOf(host, port) }
  } else if (typeof list[0] === 'number' && typeof list[1] === 'string' && !isLoopback(list[1])) {
    const { host, port } = routeOf(list[1], list[0])
    list[0] = port
    list[1] = host
  }
  return connect.apply(this, args)
}

const connectUdp = dgram.Socket.prototype.connect
dgram.Socket.prototype.connect = function connectInside(port, address, ...rest) {
  if (address === undefined || isLoopback(address)) return connectUdp.call(this, port, address, ...rest)
  return connectUdp.call(this, port === 53 ? read().dns : nowhere.port, '127.0.0.1', ...rest)
}

const lookup = dns.lookup
dns.lookup = (host, options, callback) => {
  const done = callback ?? options
  if (isLoopback(host) || net.isIP(host)) return lookup(host, options, callback)
  const address = read().names[host]
  if (address === undefined) return done(Object.assign(new Error(`no such host: ${host}`), { code: 'ENOTFOUND' }))
  if (typeof options === 'object' && options.all) return done(null, [{ address, family: 4 }])
  return done(null, address, 4)
}
dns.setServers(['1.1.1.1', '9.9.9.9'])
syncBuiltinESMExports()
