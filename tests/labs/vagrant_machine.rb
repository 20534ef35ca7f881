# SPDX-License-Identifier: GPL-2.0-only
# What somebody may set for all machines: here, to reach a package source as this machine does.
Vagrant.configure("2") do |config|
  config.vm.provision "file", source: "/opt/certificates.crt", destination: "/tmp/certificates.crt"
  config.vm.provision "file", source: "/etc/pip.conf", destination: "/tmp/pip.conf"
  config.vm.provision "shell", inline: "mv /tmp/certificates.crt /opt; mv /tmp/pip.conf /etc"
end
