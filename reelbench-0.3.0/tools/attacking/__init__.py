"""What `tools.attack` tries beside declarations, paths and bounds: forged results, kills, full disks, secrets."""
