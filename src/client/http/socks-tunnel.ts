import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { SocksClient } from 'socks';
import { messageOf } from '../../base/errors/thrown.ts';
import { hostOf } from './connect-options.ts';
import { keepQuiet, portOf, refusal, type Tunnel } from './tunnel.ts';

/** A tunnel through a SOCKS 5 proxy, which resolves the target's name itself. Import on demand, because few users have such a proxy. */
export async function throughSocks({ proxy, target, signal }: Tunnel): Promise<Socket> {
  const address = { host: hostOf(proxy), port: portOf(proxy) };
  const destination = { host: hostOf(target), port: portOf(target) };
  const login = { userId: decodeURIComponent(proxy.username), password: decodeURIComponent(proxy.password) };
  const socket = connect({ ...address, signal });
  keepQuiet(socket);
  await once(socket, 'connect');
  try {
    await SocksClient.createConnection({
      command: 'connect',
      proxy: { type: 5, ...address, ...(login.userId === '' ? {} : login) },
      destination,
      existing_socket: socket,
    });
    return socket;
  } catch (error) {
    socket.destroy();
    throw refusal(proxy, `${target.hostname}:${destination.port}`, messageOf(error));
  }
}
