while getopts "l:v" o; do
 case $1 in
 -l|--lr) L=$2 ;;
 --e=*) x ;;
 esac
done
